"""What a page says, read by Python: its blocks of data and its scripts."""

import base64
import hashlib
import json
import re

import numpy as np

_TYPES = {"Uint8Array": "u1", "Uint16Array": "<u2", "Uint32Array": "<u4", "Float32Array": "<f4"}


def block(html, name):
    """Content of a block of data, arrays unpacked."""
    text = re.search(rf'<script type="application/json" class="{name}">(.*?)</script>', html, re.S)
    return {key: _unpacked(value) for key, value in json.loads(text[1]).items()}


def _unpacked(value):
    if isinstance(value, dict) and value.keys() == {"type", "bytes"}:
        return np.frombuffer(base64.b64decode(value["bytes"]), _TYPES[value["type"]])
    return value


def scripts(html):
    """Texts of the scripts that a browser runs."""
    return re.findall(r"<script>(.*?)</script>", html, re.S)


def allowed_hashes(html):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    return re.findall(r"'sha256-([^']+)'", policy)


def digest(text):
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
