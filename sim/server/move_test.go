package server_test

import (
	"strings"
	"testing"
)

// TestMoveAndExport checks that both are refused, and that the error names the resources.
func TestMoveAndExport(t *testing.T) {
	t.Parallel()
	a := newAzure(t)
	a.createBase()
	const other = "/subscriptions/" + sub + "/resourceGroups/other"
	a.mustSucceed("PUT", other, obj{"location": "westus3"})
	table := net + "/routeTables/rt"
	for name, test := range map[string]struct {
		resources []any
		target    string
		status    int
		code      string
	}{
		"a resource":    {[]any{table}, other, 409, "ResourceMoveProviderValidationFailed/ResourceMoveNotSupported"},
		"no such group": {[]any{table}, "/subscriptions/" + sub + "/resourceGroups/none", 404, "ResourceGroupNotFound"},
		"no group":      {[]any{table}, table, 400, "InvalidResourceMoveRequest"},
		"no resource":   {[]any{net + "/routeTables/none"}, other, 404, "ResourceNotFound"},
		"elsewhere":     {[]any{other + "/providers/Microsoft.Network/routeTables/rt"}, other, 400, "InvalidResourceMoveRequest"},
		"nothing":       {nil, other, 400, "InvalidResourceMoveRequest"},
	} {
		for _, verb := range []string{"moveResources", "validateMoveResources"} {
			if r := a.sendRequest("POST", groupA+"/"+verb,
				obj{"resources": test.resources, "targetResourceGroup": test.target}); r.status != test.status || r.errorCode() != test.code {
				t.Errorf("%s: %s = %d %v", name, verb, r.status, r.body)
			}
		}
	}
	if r := a.sendRequest("GET", table, nil); r.status != 200 {
		t.Errorf("the route table = %d %v", r.status, r.body)
	}
	r := a.sendRequest("POST", groupA+"/exportTemplate", obj{"resources": []any{"*"}})
	if details, _ := r.valueAt("error.details").([]any); r.status != 200 || r.valueAt("error.code") != "ExportTemplateCompletedWithErrors" ||
		len(details) != 3 {
		t.Errorf("export = %d %v", r.status, r.body)
	}
	r = a.sendRequest("POST", groupA+"/exportTemplate", obj{"resources": []any{strings.ToUpper(table)}})
	if valueAt(r.body, "error.details.0.code") != "ResourceTypeSchemaNotFound" || valueAt(r.body, "error.details.0.target") != table ||
		valueAt(r.body, "error.details.1") != nil {
		t.Errorf("export of the route table = %v", r.body)
	}
	if r := a.sendRequest("POST", other+"/exportTemplate", obj{"resources": []any{"*"}}); r.status != 200 || r.valueAt("error") != nil {
		t.Errorf("export of an empty group = %d %v", r.status, r.body)
	}
}

// TestScaleSetSKUs checks which sizes a scale set may have, and how many instances.
func TestScaleSetSKUs(t *testing.T) {
	t.Parallel()
	a := newAzure(t)
	a.createGroup()
	for _, name := range []string{"vm", "vmss"} {
		_, content := sentDeployment(t, name)
		a.mustSucceed("PUT", deployments+name+deployedWith, content)
	}
	r := a.sendRequest("GET", comp+"/virtualMachineScaleSets/ss/skus", nil)
	list, _ := r.valueAt("value").([]any)
	found := false
	for _, sku := range list {
		found = found || valueAt(sku, "sku.name") == "Standard_D2s_v3" && valueAt(sku, "capacity.maximum") == 100.0 &&
			valueAt(sku, "resourceType") == "Microsoft.Compute/virtualMachineScaleSets"
	}
	if r.status != 200 || !found {
		t.Errorf("skus = %d, %d of them, %v", r.status, len(list), valueAt(r.body, "value.0"))
	}
}
