"""Compiling for devices that are not there: XLA's plug-ins need a description, not a device.

The NVIDIA plug-in compiles from a description of the chip in text, and libtpu from the name of a
topology. Some variables have to be set before JAX is imported; `environment` returns them.
Automatic tuning needs a device and is turned off, so a compiled program holds what XLA does by
default.
"""

from __future__ import annotations

import dataclasses
import importlib.util
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec

INSTALL = 'python -m pip install "jaxsolve[devices]"'
"""What brings the plug-in."""

H100_CONFIG = """\
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32
  shared_memory_per_block: 49152 shared_memory_per_core: 233472
  shared_memory_per_block_optin: 232448
  threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98
  device_memory_size: 84929347584
  cuda_compute_capability { major: 9 }
  registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 7 }
runtime_version { major: 12 minor: 8 patch: 0 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""
"""A `GpuTargetConfig`: numbers of NVIDIA's data sheet and of CUDA's occupancy tables."""


@dataclasses.dataclass(frozen=True)
class Device:
    """A device to compile for.

    Attributes:
        name: of the chip.
        platform: of JAX.
        bandwidth: bytes a second of its memory; None where floors are not stated.
        flops: of float32, a second.
        half_flops: of bfloat16 in matrix units, a second.
        launch_us: microseconds from one kernel of a loop to the next, at least.
        plugins: modules of which one has to be installed.
        topology: its name, for the plug-in.
        clock: cycles a second, in which XLA estimates the time of an operation; None where it
            does not.
    """

    name: str
    platform: str
    bandwidth: float | None = None
    flops: float | None = None
    half_flops: float | None = None
    launch_us: float | None = None
    plugins: tuple[str, ...] = ()
    topology: str = ""
    clock: float | None = None


DEVICES = {
    "h100": Device(
        "NVIDIA H100 SXM",
        "cuda",
        bandwidth=3.35e12,
        flops=67e12,
        half_flops=990e12,
        launch_us=2.0,
        plugins=("jax_cuda12_plugin", "jax_cuda13_plugin"),
        topology="1x1x1",
    ),
    "v5e": Device(
        "TPU v5e",
        "tpu",
        bandwidth=819e9,
        half_flops=197e12,
        plugins=("libtpu",),
        topology="v5e:2x2",
        clock=1.5e9,
    ),
    "cpu": Device("this CPU", "cpu"),
}
"""Peaks of the makers' data sheets, dense. Launches of 2 to 4 microseconds are usual on a GPU. The
clock of a v5e is what 197 TFLOP/s take of four matrix units of 128 x 128."""


def environment(device: Device) -> dict[str, str]:
    """Returns the variables that must be set before JAX is imported."""
    common = {"JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3"}
    if device.platform == "cuda":
        flags = "--xla_gpu_autotune_level=0 --xla_gpu_enable_triton_gemm=false"
        return {**common, "JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1", "XLA_FLAGS": flags}
    if device.platform == "tpu":
        return {**common, "TPU_SKIP_MDS_QUERY": "1", "XLA_FLAGS": ""}
    return {**common, "XLA_FLAGS": ""}


def check_plugin(device: Device) -> None:
    """Raises ImportError if what compiles for a device is not installed; says what installs it."""
    if device.plugins and not any(importlib.util.find_spec(name) for name in device.plugins):
        raise ImportError(f"the plug-in for {device.name} is not installed; {INSTALL} brings it")


def compile_for(device: Device, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Returns a compiled program of a jitted function for a device.

    Args:
        device: which.
        function: what `jax.jit` returned.
        arguments: arrays or shapes; only their shapes count.

    Raises:
        ImportError: the plug-in of the device is not installed; says what installs it.
    """
    sharding = _sharding(device)

    def shape(x: Any) -> jax.ShapeDtypeStruct:
        kind = x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype
        kind = jax.dtypes.canonicalize_dtype(kind)
        return jax.ShapeDtypeStruct(np.shape(x), kind, sharding=sharding)

    return function.lower(*jax.tree.map(shape, arguments)).compile()


def _sharding(device: Device) -> NamedSharding | None:
    if device.platform == "cpu":
        return None
    check_plugin(device)
    if device.platform == "tpu":
        topology = topologies.get_topology_desc(platform="tpu", topology_name=device.topology)
    else:
        topology = topologies.get_topology_desc(
            platform=device.platform, target_config=H100_CONFIG, topology=device.topology
        )
    return NamedSharding(Mesh(np.asarray(topology.devices[:1]), ("device",)), PartitionSpec())
