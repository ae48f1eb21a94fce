"""Solved games in the browser: a page served on this machine, exported, or in a notebook."""

from jaxsolve.view._export import FILE_BYTES as FILE_BYTES
from jaxsolve.view._export import Page as Page
from jaxsolve.view._export import document as document
from jaxsolve.view._export import export as export
from jaxsolve.view._position import About as About
from jaxsolve.view._position import Lock as Lock
from jaxsolve.view._position import Move as Move
from jaxsolve.view._position import Position as Position
from jaxsolve.view._position import Privates as Privates
from jaxsolve.view._position import Viewable as Viewable
from jaxsolve.view._position import unknown_step as unknown_step
from jaxsolve.view._server import serve as serve
from jaxsolve.view._session import Session as Session
