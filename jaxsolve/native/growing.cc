// Operators of XLA: the passes over growing trees, and what leaves read and write.
//
// Searches of a batch come one after another; an operand that all of them share has a leading size
// of 1.

#include "growing.h"

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

namespace {

using F32 = ffi::Buffer<ffi::F32>;
using S32 = ffi::Buffer<ffi::S32>;
using Bools = ffi::Buffer<ffi::PRED>;
using Any = ffi::AnyBuffer;
using Changed = ffi::Result<F32>;

// Where in an operand each search of a batch begins.
struct Part {
  const void* data;
  std::vector<int64_t> lead;  // sizes before those of one search
  int64_t size = 1;           // of one search

  template <class Buffer>
  Part(Buffer buffer, int64_t rank) : data(buffer.untyped_data()) {
    const auto sizes = buffer.dimensions();
    const int64_t batched = static_cast<int64_t>(sizes.size()) - rank;
    for (int64_t k = 0; k < static_cast<int64_t>(sizes.size()); ++k) {
      if (k < batched) lead.push_back(sizes[k]);
      else size *= sizes[k];
    }
  }

  template <class T>
  const T* at(const std::vector<int64_t>& all, int64_t number) const {
    int64_t offset = 0, stride = size;
    for (int64_t k = static_cast<int64_t>(all.size()) - 1; k >= 0; --k) {
      if (lead[k] > 1) offset += number % all[k] * stride;
      number /= all[k];
      stride *= lead[k];
    }
    return static_cast<const T*>(data) + offset;
  }
};

int64_t Size(Any buffer, int64_t from_the_end) {
  const auto sizes = buffer.dimensions();
  return sizes[sizes.size() - from_the_end];
}

// How many searches there are in a batch.
int64_t Product(const std::vector<int64_t>& all) {
  int64_t searches = 1;
  for (const int64_t size : all) searches *= size;
  return searches;
}

// The operands that all have after their own, in the order in which they come.
struct Operands {
  Part opened, row, public_, up, step, actor, kind, child, legal, renumbers, order, count;
  Part parents_of, of_action, of_waiting;
  int64_t actions, hands, children, most, ways, apart, first, second;
  ffi::DataType code;

  Operands(const ffi::RemainingArgs& given, int64_t first, int64_t second)
      : opened(*given.get<S32>(0), 0),
        row(*given.get<S32>(1), 1),
        public_(*given.get<S32>(2), 1),
        up(*given.get<S32>(3), 1),
        step(*given.get<S32>(4), 1),
        actor(*given.get<S32>(5), 1),
        kind(*given.get<S32>(6), 1),
        child(*given.get<S32>(7), 2),
        legal(*given.get<Bools>(8), 3),
        renumbers(*given.get<Bools>(9), 1),
        order(*given.get<Any>(10), 2),
        count(*given.get<S32>(11), 1),
        parents_of(*given.get<Any>(12), 5),
        of_action(*given.get<Any>(13), 4),
        of_waiting(*given.get<Any>(14), 3),
        actions(Size(*given.get<Any>(13), 3)),
        hands(Size(*given.get<Any>(13), 2)),
        children(Size(*given.get<Any>(12), 4)),
        most(Size(*given.get<Any>(12), 1)),
        ways(Size(*given.get<Any>(13), 1)),
        apart(Size(*given.get<Any>(14), 1)),
        first(first),
        second(second),
        code(given.get<Any>(12)->element_type()) {}

  template <class Code>
  growing::Tree<Code> tree(const std::vector<int64_t>& all, int64_t b) const {
    return {*opened.at<int32_t>(all, b),
            actions,
            hands,
            children,
            most,
            ways,
            apart,
            {first, second},
            row.at<int32_t>(all, b),
            public_.at<int32_t>(all, b),
            up.at<int32_t>(all, b),
            step.at<int32_t>(all, b),
            actor.at<int32_t>(all, b),
            kind.at<int32_t>(all, b),
            child.at<int32_t>(all, b),
            legal.at<bool>(all, b),
            renumbers.size ? renumbers.at<bool>(all, b) : nullptr,
            count.size ? order.at<Code>(all, b) : nullptr,
            count.size ? count.at<int32_t>(all, b) : nullptr,
            parents_of.at<Code>(all, b),
            of_action.at<Code>(all, b),
            of_waiting.at<Code>(all, b)};
  }

  // Calls a function of (tree, number) for each search of a batch.
  template <class F>
  ffi::Error Each(const std::vector<int64_t>& all, F one) const {
    for (int64_t b = 0; b < Product(all); ++b) {
      if (code == ffi::S16) one(tree<int16_t>(all, b), b);
      else if (code == ffi::S32) one(tree<int32_t>(all, b), b);
      else return ffi::Error::InvalidArgument("lists must be int16 or int32");
    }
    return ffi::Error::Success();
  }
};

// Copies what is changed to where the result is, unless it is there.
Part Kept(F32 given, Changed& out, int64_t rank) {
  if (given.typed_data() != out->typed_data())
    std::memcpy(out->typed_data(), given.typed_data(), out->size_bytes());
  return Part(*out, rank);
}

float* Writable(const Part& part, const std::vector<int64_t>& all, int64_t b) {
  return const_cast<float*>(part.at<float>(all, b));
}

int32_t* WritableInts(const Part& part, const std::vector<int64_t>& all, int64_t b) {
  return const_cast<int32_t*>(part.at<int32_t>(all, b));
}

ffi::Error DownAll(int64_t first, int64_t second, F32 start, F32 policy, F32 action_reach,
                   ffi::RemainingArgs tree, Changed out) {
  const Part starts(start, 2), policies(policy, 3), reaches = Kept(action_reach, out, 4);
  const auto& all = reaches.lead;
  return Operands(tree, first, second).Each(all, [&](const auto& tree, int64_t b) {
    growing::Down(tree, starts.at<float>(all, b), policies.at<float>(all, b),
                  Writable(reaches, all, b));
  });
}

ffi::Error ReachAll(int64_t first, int64_t second, F32 action_reach, S32 parent, S32 child,
                    S32 numbers, ffi::RemainingArgs tree, Changed out) {
  const Part reaches(action_reach, 4), parents(parent, 1), children(child, 1), some(numbers, 3);
  const Part found(*out, 3);
  const auto& all = found.lead;
  const int64_t leaves = parents.size, size = found.size / (2 * leaves);
  return Operands(tree, first, second).Each(all, [&](const auto& tree, int64_t b) {
    const int32_t *ups = parents.at<int32_t>(all, b), *steps = children.at<int32_t>(all, b);
    const int32_t* each = some.size ? some.at<int32_t>(all, b) : nullptr;
    for (int64_t k = 0; k < leaves; ++k)
      growing::Reach(tree, reaches.at<float>(all, b), ups[k], steps[k],
                     each ? each + 2 * k * size : nullptr, size,
                     Writable(found, all, b) + 2 * k * size);
  });
}

ffi::Error UpAll(int64_t first, int64_t second, Bools mine, Bools allowed, Bools inside, F32 decay,
                 F32 numbers, F32 factor, F32 payoff, F32 action_reach, F32 regret, F32 policy,
                 F32 total, F32 values, F32 value_sum, F32 child_values, ffi::RemainingArgs tree,
                 Changed regret_out, Changed policy_out, Changed total_out, Changed values_out,
                 Changed value_sum_out, Changed child_values_out, Changed root) {
  const Part mines(mine, 1), allow(allowed, 3), insides(inside, 2), decays(decay, 0);
  const Part number(numbers, 1), factors(factor, 2), payoffs(payoff, 4), reaches(action_reach, 4);
  const Part regrets = Kept(regret, regret_out, 3), policies = Kept(policy, policy_out, 3);
  const Part totals = Kept(total, total_out, 3), worths = Kept(values, values_out, 3);
  const Part sums = Kept(value_sum, value_sum_out, 4);
  const Part below = Kept(child_values, child_values_out, 4), roots(*root, 2);
  const auto& all = roots.lead;
  return Operands(tree, first, second).Each(all, [&](const auto& tree, int64_t b) {
    growing::Up(tree, {mines.at<bool>(all, b), allow.at<bool>(all, b), insides.at<bool>(all, b),
              decays.at<float>(all, b), number.at<float>(all, b), factors.at<float>(all, b),
              payoffs.at<float>(all, b), reaches.at<float>(all, b), Writable(regrets, all, b),
              Writable(policies, all, b), Writable(totals, all, b), Writable(worths, all, b),
              Writable(sums, all, b), Writable(below, all, b), Writable(roots, all, b)});
  });
}

ffi::Error PutAll(int64_t first, int64_t second, F32 values, F32 found, S32 numbers, S32 parent,
                  S32 child, ffi::RemainingArgs tree, Changed out) {
  const Part worths = Kept(values, out, 4), given(found, 3), some(numbers, 3);
  const Part parents(parent, 1), children(child, 1);
  const auto& all = worths.lead;
  const int64_t leaves = parents.size, size = given.size / (2 * leaves);
  return Operands(tree, first, second).Each(all, [&](const auto& tree, int64_t b) {
    const int32_t *ups = parents.at<int32_t>(all, b), *steps = children.at<int32_t>(all, b);
    const int32_t* each = some.size ? some.at<int32_t>(all, b) : nullptr;
    const int64_t room = worths.size / (2 * tree.worths());
    for (int64_t k = 0; k < leaves; ++k) {
      if (ups[k] >= room) continue;  // no leaf is left
      growing::Put(tree, given.at<float>(all, b) + 2 * k * size,
                   each ? each + 2 * k * size : nullptr, size, ups[k], steps[k],
                   Writable(worths, all, b));
    }
  });
}

ffi::Error SortAll(int64_t first, int64_t second, ffi::Span<const int64_t> sizes, S32 leaf,
                   S32 begin, S32 end, S32 count, ffi::RemainingArgs tree,
                   ffi::Result<S32> sorted, ffi::Result<S32> groups) {
  const Part leaves(leaf, 1), begins(begin, 0), ends(end, 0), counts(count, 1);
  const Part out(*sorted, 1), at(*groups, 1);
  const auto& all = out.lead;
  std::memset(sorted->typed_data(), 0, sorted->size_bytes());
  return Operands(tree, first, second).Each(all, [&](const auto& tree, int64_t b) {
    growing::Sort(tree, leaves.at<int32_t>(all, b), *begins.at<int32_t>(all, b),
                  *ends.at<int32_t>(all, b), counts.at<int32_t>(all, b), sizes.begin(), sizes.size(),
                  WritableInts(out, all, b), WritableInts(at, all, b));
  });
}

ffi::Error RowsAll(F32 entries, S32 begin, Changed out) {
  const Part from(entries, 2), begins(begin, 1), found(*out, 3);
  const auto& all = found.lead;
  const int64_t width = entries.dimensions().back(), lists = begins.size;
  if (!found.size) return ffi::Error::Success();
  const int64_t size = found.size / (lists * width), last = from.size / width - size;
  for (int64_t b = 0; b < Product(all); ++b) {
    const float* rows = from.at<float>(all, b);
    float* to = Writable(found, all, b);
    for (int64_t k = 0; k < lists; ++k) {
      const int64_t at = std::clamp<int64_t>(begins.at<int32_t>(all, b)[k], 0, last);
      std::copy_n(rows + at * width, size * width, to + k * size * width);
    }
  }
  return ffi::Error::Success();
}

auto Bound() { return ffi::Ffi::Bind().Attr<int64_t>("first").Attr<int64_t>("second"); }

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxsolveDown, DownAll,
                              Bound()
                                  .Arg<F32>()  // start
                                  .Arg<F32>()  // policy
                                  .Arg<F32>()  // action_reach
                                  .RemainingArgs()
                                  .Ret<F32>());  // action_reach

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxsolveReach, ReachAll,
                              Bound()
                                  .Arg<F32>()  // action_reach
                                  .Arg<S32>()  // parents of leaves
                                  .Arg<S32>()  // which children they are
                                  .Arg<S32>()  // private states, of size 0 for all
                                  .RemainingArgs()
                                  .Ret<F32>());  // reach

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxsolveUp, UpAll,
                              Bound()
                                  .Arg<Bools>()  // mine
                                  .Arg<Bools>()  // allowed
                                  .Arg<Bools>()  // inside
                                  .Arg<F32>()    // decay
                                  .Arg<F32>()    // numbers
                                  .Arg<F32>()    // factor
                                  .Arg<F32>()    // payoff
                                  .Arg<F32>()    // action_reach
                                  .Arg<F32>()    // regret
                                  .Arg<F32>()    // policy
                                  .Arg<F32>()    // total
                                  .Arg<F32>()    // values
                                  .Arg<F32>()    // value_sum
                                  .Arg<F32>()    // child_values
                                  .RemainingArgs()
                                  .Ret<F32>()    // regret
                                  .Ret<F32>()    // policy
                                  .Ret<F32>()    // total
                                  .Ret<F32>()    // values
                                  .Ret<F32>()    // value_sum
                                  .Ret<F32>()    // child_values
                                  .Ret<F32>());  // root

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxsolvePut, PutAll,
                              Bound()
                                  .Arg<F32>()  // values
                                  .Arg<F32>()  // of leaves
                                  .Arg<S32>()  // their private states, of size 0 for all
                                  .Arg<S32>()  // parents of leaves, beyond all where none is left
                                  .Arg<S32>()  // which children they are
                                  .RemainingArgs()
                                  .Ret<F32>());  // values

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxsolveRows, RowsAll,
                              ffi::Ffi::Bind()
                                  .Arg<F32>()    // rows
                                  .Arg<S32>()    // where each list begins
                                  .Ret<F32>());  // lists

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxsolveSort, SortAll,
                              Bound()
                                  .Attr<ffi::Span<const int64_t>>("sizes")
                                  .Arg<S32>()  // leaves
                                  .Arg<S32>()  // the first one
                                  .Arg<S32>()  // the one after the last
                                  .Arg<S32>()  // of public states, what sizes are compared with
                                  .RemainingArgs()
                                  .Ret<S32>()    // sorted
                                  .Ret<S32>());  // where groups begin
