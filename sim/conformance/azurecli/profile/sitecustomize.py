"""Corrects the Azure CLI of Debian 12, whose SDK is of another version.

It asks for the versions of network and Compute that the SDK has, and finds the configuration of roles and their assignments.
"""

import importlib
import importlib.abc
import importlib.util
import sys

from azure.cli.core.profiles import _shared as profiles

_NETWORK = "2022-07-01"

_latest = profiles.AZURE_API_PROFILES["latest"]
_latest[profiles.ResourceType.MGMT_NETWORK] = _NETWORK
_compute = _latest[profiles.ResourceType.MGMT_COMPUTE]
_compute.profile[None] = "2022-08-01"
_compute.profile.update({"virtual_machine_scale_sets": "2022-08-01", "snapshots": "2022-03-02"})


class _Latest(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds operations of the latest version of network where the SDK has them: beside the versions."""

    name = "azure.mgmt.network.v" + _NETWORK.replace("-", "_") + ".operations"

    def find_spec(self, fullname, path, target=None):
        return importlib.util.spec_from_loader(fullname, self) if fullname == self.name else None

    def create_module(self, spec):
        return importlib.import_module("azure.mgmt.network.operations")

    def exec_module(self, module):
        pass


sys.meta_path.append(_Latest())

if {"ad", "role"} & set(sys.argv):
    from azure.mgmt.authorization.v2018_01_01_preview.operations import RoleDefinitionsOperations
    from azure.mgmt.authorization.v2020_04_01_preview.operations import RoleAssignmentsOperations

    for _operations in (RoleDefinitionsOperations, RoleAssignmentsOperations):
        _operations.config = property(lambda self: self._config)
