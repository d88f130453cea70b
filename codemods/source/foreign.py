"""What classes outside the tree are known to define: builtins, common bases of the standard library, a few of others.

Asks the running Python about the standard library; nothing else is imported. What is not listed is unknown."""

from __future__ import annotations

import builtins
import importlib
from functools import cache


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Bases people derive from, in modules that do nothing when they are imported.
_IMPORTABLE = _words(
    """abc argparse array ast asyncio calendar cmd code codecs collections collections.abc concurrent.futures
    configparser contextlib csv ctypes dataclasses datetime decimal email.message enum fractions functools
    gettext html.parser http.client http.server importlib.abc io itertools json json.decoder json.encoder
    logging logging.handlers multiprocessing multiprocessing.managers multiprocessing.process numbers optparse
    pathlib pickle queue random sched selectors shelve shlex socket socketserver ssl string subprocess tarfile
    tempfile threading traceback types typing unittest unittest.case unittest.mock urllib.request warnings
    weakref xml.sax.handler zipfile"""
)
_MODULE = _words(
    """__init__ __call__ __repr__ __setattr__ __getattr__ __delattr__ __dir__ __setstate__ forward train eval to cuda
    cpu xpu apply half float double bfloat16 type compile state_dict load_state_dict parameters named_parameters
    buffers named_buffers children named_children modules named_modules add_module register_module register_buffer
    register_parameter register_forward_hook register_forward_pre_hook register_full_backward_hook get_submodule
    get_parameter get_buffer get_extra_state set_extra_state extra_repr requires_grad_ zero_grad share_memory
    to_empty"""
)
_LISTED = {
    "torch.nn.Module": _MODULE,
    "torch.nn.modules.module.Module": _MODULE,
    "torch.autograd.Function": _words("forward backward setup_context vmap jvp apply"),
    "typing.NamedTuple": _words("_make _asdict _replace _fields _field_defaults count index"),
    "typing.TypedDict": frozenset(dir(dict)),
    "typing_extensions.TypedDict": frozenset(dir(dict)),
    "msgspec.Struct": frozenset({"__post_init__", "__struct_fields__", "__struct_config__"}),
    "pydantic.BaseModel": _words("dict json copy model_dump model_validate model_copy schema validate"),
}
# Cheap to import: this list is consulted while somebody waits.
_EVERYDAY = _words(
    """threading.Thread threading.Event threading.Condition queue.Queue logging.Logger logging.Handler io.TextIOBase
    io.BytesIO pathlib.Path datetime.datetime datetime.timedelta collections.OrderedDict collections.deque
    collections.Counter collections.defaultdict enum.Enum argparse.ArgumentParser argparse.Namespace
    contextlib.ExitStack weakref.ref types.ModuleType types.FunctionType ast.NodeVisitor"""
)
_TENSOR = _words(
    "shape dtype device size view reshape numel backward step grad data item detach clone contiguous numpy"
)
_TASK = _words(
    "result submit done cancel cancelled create_task run_until_complete call_soon assert_called setUp tearDown"
)
# Every class has these; defining one of them is a protocol, not an override of somebody's method.
_EVERYWHERE = frozenset(dir(object))


def defines(name: str, member: str) -> bool | None:
    """Whether the external class `name` ("dict", "torch.nn.Module") has `member`; None when it is not known.

    Members that `object` has count: calls of them are made by Python itself."""
    listed = _LISTED.get(name)
    if listed is not None:
        return member in listed or member in _EVERYWHERE
    found = _class(name)
    if found is None:
        return True if member in _EVERYWHERE else None
    return hasattr(found, member)


@cache
def _class(name: str) -> type | None:
    module, _, leaf = name.rpartition(".")
    if not module or module == "builtins":
        found = getattr(builtins, leaf, None)
    elif module in _IMPORTABLE:
        try:
            found = getattr(importlib.import_module(module), leaf, None)
        except ImportError:  # Python can be built without ssl, ctypes and the like
            return None
    else:
        return None
    return found if isinstance(found, type) else None


@cache
def common_members() -> frozenset[str]:
    """Names of methods and attributes that objects of builtin and everyday types have: no name to go by."""
    kinds = [value for value in vars(builtins).values() if isinstance(value, type)]
    kinds.extend(found for found in map(_class, sorted(_EVERYDAY)) if found is not None)
    names = {name for kind in kinds for name in dir(kind)}
    return frozenset(names) | _MODULE | _TENSOR | _TASK
