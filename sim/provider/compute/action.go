package compute

import (
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

func vmActions() map[string]*provider.Action {
	set := func(power string, boots bool) func(*provider.Call, *store.Operation, *store.Resource) error {
		return func(c *provider.Call, _ *store.Operation, r *store.Resource) error {
			SetPower(c, r, power, boots)
			return nil
		}
	}
	timed := func(seconds float64, finish func(*provider.Call, *store.Operation, *store.Resource) error) *provider.Action {
		return &provider.Action{Timing: provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(seconds)}, Finish: finish}
	}
	return map[string]*provider.Action{
		"start": {Timing: provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(20)}, Start: startVM,
			Finish: func(c *provider.Call, _ *store.Operation, r *store.Resource) error {
				if body.String(r.Secret, "power") != "running" {
					SetPower(c, r, "running", true)
				}
				return nil
			}},
		"poweroff":              timed(20, set("stopped", false)),
		"deallocate":            timed(45, set("deallocated", false)),
		"restart":               timed(20, set("running", true)),
		"redeploy":              timed(60, set("running", true)),
		"reimage":               timed(60, set("running", true)),
		"reapply":               timed(10, nil),
		"attachdetachdatadisks": attachDetach(),
		"runcommand": {Timing: provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(15)}, Start: checkRunning,
			Finish: runCommand},
		"generalize": {Start: func(c *provider.Call, r *store.Resource) (*provider.Reply, error) {
			return &provider.Reply{Status: 200}, nil
		}},
		"simulateeviction":            {Start: evictSpotVM},
		"retrievebootdiagnosticsdata": {Start: retrieveBootDiagnostics},
	}
}

// SetPower changes the power state of a VM or scale-set instance; boots gives it a new boot.
func SetPower(c *provider.Call, r *store.Resource, power string, boots bool) {
	if r.Secret == nil {
		r.Secret = body.Object{}
	}
	r.Secret["power"] = power
	if boots {
		r.Secret["bootID"] = c.NewGUID()
	}
}

func startVM(c *provider.Call, r *store.Resource) (*provider.Reply, error) {
	if body.String(r.Secret, "power") != "deallocated" {
		return nil, nil
	}
	// A deallocated VM holds no cores; starting it needs them again.
	size := body.String(r.Body, "properties.hardwareProfile.vmSize")
	_, err := CheckSize(c, r.ID, size, r.Location, body.Strings(r.Body, "zones"), 1,
		strings.EqualFold(body.String(r.Body, "properties.priority"), "Spot"))
	return nil, err
}

func checkRunning(_ *provider.Call, r *store.Resource) (*provider.Reply, error) {
	if body.String(r.Secret, "power") != "running" {
		return nil, provider.Errorf(409, "OperationNotAllowed", "The operation requires the VM to be running (or set to run).")
	}
	return nil, nil
}

func runCommand(c *provider.Call, op *store.Operation, _ *store.Resource) error {
	op.Result = body.Object{"value": []any{body.Object{"code": "ProvisioningState/succeeded", "level": "Info",
		"displayStatus": "Provisioning succeeded", "message": "Enable succeeded: \n[stdout]\n\n[stderr]\n"}}}
	return nil
}

// evictSpotVM takes a spot VM away by its own policy, at once.
func evictSpotVM(c *provider.Call, r *store.Resource) (*provider.Reply, error) {
	if !strings.EqualFold(body.String(r.Body, "properties.priority"), "Spot") {
		return nil, provider.Errorf(409, "OperationNotAllowed",
			"Simulate Eviction is only allowed on Azure Spot virtual machines. VM '%s' is not one.", r.Name())
	}
	if strings.EqualFold(body.String(r.Body, "properties.evictionPolicy"), "Delete") {
		c.EraseTree(r.ID)
		return &provider.Reply{Status: 204}, nil
	}
	n := c.Edit(r.ID)
	SetPower(c, n, "deallocated", false)
	c.SaveResource(n)
	return &provider.Reply{Status: 204}, nil
}

func extensionType() *provider.Type {
	return &provider.Type{
		Name: Extensions, Style: provider.Compute, DeleteRetryAfter: -1, PutMerges: false, Whole: true,
		Create: provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(10.5)},
		Delete: provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(20)}, Read: provider.Timing{HTTP: 420 * time.Millisecond},
		ReadOnlyPaths: []string{"properties.instanceView"},
		Since:         map[string]string{"properties.suppressFailures": "2022-08-01"}, // not in recordings of 2020-12-01 and 2022-03-01
		Prepare:       PrepareExtension, View: showExtensionState,
		Patch: PrepareExtension, PatchLRO: provider.Timing{LRO: provider.Seconds(10)},
		Finish: func(c *provider.Call, op *store.Operation, r *store.Resource) error {
			id, _ := store.ParseID(r.ID)
			vm := c.Get(id.Parent().String())
			if vm == nil {
				return nil
			}
			started := c.Now()
			if op != nil {
				started = op.Started
			}
			return AwaitGuest(c, body.String(vm.Body, "properties.vmId"), r, started)
		},
	}
}

// PrepareExtension validates a VM or scale-set extension and hides its protected settings.
func PrepareExtension(c *provider.Call, d *provider.Draft) error {
	p := "properties."
	for _, k := range []string{"publisher", "type", "typeHandlerVersion"} {
		if body.String(d.New, p+k) == "" {
			return provider.MissingProperty("extension." + k)
		}
	}
	body.Default(d.New, p+"settings", body.Object{})
	id, _ := store.ParseID(d.ID)
	if vm := c.Get(id.Parent().String()); vm != nil && strings.EqualFold(vm.Type, VirtualMachines) &&
		body.String(vm.Secret, "power") != "running" {
		return provider.Errorf(409, "OperationNotAllowed", "Cannot modify extensions in the VM when the VM is not running.")
	}
	if s := body.Get(d.New, p+"protectedSettings"); s != nil {
		d.Secret["protectedSettings"] = s
		body.Delete(d.New, p+"protectedSettings")
	}
	body.Default(d.New, p+"autoUpgradeMinorVersion", false)
	body.Default(d.New, p+"suppressFailures", false)
	return nil
}

// bootTimeout is Azure's time limit for an extension. Source:
// https://learn.microsoft.com/azure/virtual-machines/extensions/features-linux
const bootTimeout = 90 * time.Minute

// AwaitGuest ends a bootstrapping extension with the guest's result. Without a lab there is no guest to wait for.
func AwaitGuest(c *provider.Call, vmID string, ext *store.Resource, started time.Time) error {
	var attached bool
	var g GuestStatus
	known := c.ReadNote(GuestKey(vmID), &g)
	if !strings.Contains(body.String(ext.Body, "properties.type"), "Bootstrapping") || !known && !c.ReadNote(LabKey, &attached) {
		return nil
	}
	name, publisher, typ := ext.Name(), body.String(ext.Body, "properties.publisher"), body.String(ext.Body, "properties.type")
	switch {
	case g.Phase == "Running":
		return nil
	case g.Phase == "Failed":
		return provider.Errorf(0, "VMExtensionProvisioningError",
			"VM has reported a failure when processing extension '%s' (publisher '%s' and type '%s'). Error message: '%s'. More information on troubleshooting is available at https://aka.ms/VMExtensionCSELinuxTroubleshoot.", name, publisher, typ, g.Message)
	case c.Now().Sub(started) > max(c.ScaleDuration(bootTimeout), 10*time.Minute):
		return provider.Errorf(0, "VMExtensionProvisioningTimeout",
			"Provisioning of VM extension %s has timed out. Extension provisioning has taken too long to complete. The extension did not report a message. More information on troubleshooting is available at https://aka.ms/VMExtensionCSELinuxTroubleshoot.", name)
	}
	return provider.Wait(time.Second)
}
