package compute

import (
	"net/http"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

func viewVM(c *provider.Call, it *provider.Item) {
	expand := strings.ToLower(c.Query.Get("$expand"))
	if disk := body.Child(it.Body, "properties.storageProfile.osDisk"); c.Method == http.MethodPut &&
		body.String(disk, "managedDisk.id") == "" && strings.HasPrefix(body.String(disk, "name"), it.Name+"_OsDisk_1_") {
		delete(disk, "name") // while Azure has not yet made it up, as recorded
	}
	showSizes(c, it.Body)
	// https://learn.microsoft.com/rest/api/compute/virtual-machines/list-all: statusOnly lists the run-time state.
	if strings.Contains(expand, "instanceview") || strings.EqualFold(c.Query.Get("statusOnly"), "true") {
		body.Set(it.Body, "properties.instanceView", InstanceView(c, it.Resource))
	}
	if strings.Contains(expand, "userdata") {
		if data := body.String(it.Resource.Secret, "userData"); data != "" {
			body.Set(it.Body, "properties.userData", data)
		}
	}
	var resources []any
	for _, e := range c.List(Extensions, it.ID) {
		ext := c.RenderResource(e)
		resources = append(resources, ext)
	}
	if resources != nil {
		it.Body["resources"] = resources
	}
}

// isExpanded reports whether the request asks for the run-time state.
func isExpanded(c *provider.Call) bool {
	return strings.Contains(strings.ToLower(c.Query.Get("$expand")), "instanceview")
}

// showExtensionState shows the state of an extension that a request expands. Source: SDK module armcompute v7.3.0,
// VirtualMachineExtensionInstanceView.
func showExtensionState(c *provider.Call, it *provider.Item) {
	if !isExpanded(c) {
		return
	}
	state := strings.ToLower(body.String(it.Body, "properties.provisioningState"))
	body.Set(it.Body, "properties.instanceView", body.Object{"name": it.Name,
		"type":               body.String(it.Body, "properties.publisher") + "." + body.String(it.Body, "properties.type"),
		"typeHandlerVersion": body.String(it.Body, "properties.typeHandlerVersion"),
		"statuses":           []any{body.Object{"code": "ProvisioningState/" + state, "level": "Info", "displayStatus": "Provisioning " + state}}})
}

// reservationState returns the use of a capacity reservation. Source: SDK module armcompute v7.3.0, CapacityReservationInstanceView.
func reservationState(c *provider.Call, r *store.Resource) body.Object {
	id, _ := store.ParseID(r.ID)
	used := []any{}
	for _, vm := range vmsOf(c, id.Parent().String(), "capacityReservationGroup") {
		machine := c.Get(body.String(vm.(body.Object), "id"))
		if machine != nil && strings.EqualFold(body.String(machine.Body, "properties.hardwareProfile.vmSize"), body.String(r.Body, "sku.name")) &&
			body.String(machine.Secret, "power") != "deallocated" {
			used = append(used, vm)
		}
	}
	state := strings.ToLower(body.String(r.Body, "properties.provisioningState"))
	return body.Object{
		"utilizationInfo": body.Object{"currentCapacity": body.Int(r.Body, "sku.capacity"), "virtualMachinesAllocated": used},
		"statuses":        []any{body.Object{"code": "ProvisioningState/" + state, "level": "Info", "displayStatus": "Provisioning " + state}}}
}

// InstanceView shows the run-time state of a VM.
func InstanceView(c *provider.Call, r *store.Resource) body.Object {
	at := r.Changed.Format("2006-01-02T15:04:05.0000000+00:00")
	state := body.String(r.Body, "properties.provisioningState")
	power := body.String(r.Secret, "power")
	status := func(code, text string) body.Object {
		return body.Object{"code": code, "level": "Info", "displayStatus": text, "time": at}
	}
	var list []any
	switch state {
	case store.Failed:
		s := status("ProvisioningState/failed/InternalOperationError", "Provisioning failed")
		s["level"] = "Error"
		list = append(list, s)
	default:
		list = append(list, status("ProvisioningState/"+strings.ToLower(state), "Provisioning "+strings.ToLower(state)))
	}
	if power != "" {
		list = append(list, body.Object{"code": "PowerState/" + power, "level": "Info", "displayStatus": "VM " + power})
	}
	out := body.Object{"statuses": list, "hyperVGeneration": "V2", "disks": []any{}}
	if name := body.String(r.Body, "properties.storageProfile.osDisk.name"); name != "" && power != "" {
		out["disks"] = []any{body.Object{"name": name, "statuses": []any{status("ProvisioningState/succeeded", "Provisioning succeeded")}}}
	}
	if power == "running" {
		out["computerName"] = body.String(r.Body, "properties.osProfile.computerName")
		out["osName"], out["osVersion"] = "ubuntu", "24.04"
		if body.String(r.Body, "properties.storageProfile.osDisk.osType") == "Windows" {
			out["osName"], out["osVersion"] = "Windows Server 2022 Datacenter", "10.0.20348"
		}
		out["vmAgent"] = body.Object{"vmAgentVersion": "2.11.1.12", "extensionHandlers": []any{},
			"statuses": []any{body.Object{"code": "ProvisioningState/succeeded", "level": "Info", "displayStatus": "Ready",
				"message": "Guest Agent is running", "time": at}}}
	}
	var exts []any
	for _, e := range c.List(Extensions, r.ID) {
		st := strings.ToLower(body.String(e.Body, "properties.provisioningState"))
		exts = append(exts, body.Object{"name": e.Name(),
			"type":               body.String(e.Body, "properties.publisher") + "." + body.String(e.Body, "properties.type"),
			"typeHandlerVersion": body.String(e.Body, "properties.typeHandlerVersion"),
			"statuses":           []any{status("ProvisioningState/"+st, "Provisioning "+st)}})
	}
	if exts != nil {
		out["extensions"] = exts
	}
	return body.Clone(out)
}
