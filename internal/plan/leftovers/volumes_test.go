package leftovers_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/leftovers"
)

// TestVolumesToTag checks against a table which of the disks that are attached to a VM or an instance get the tag.
func TestVolumesToTag(t *testing.T) {
	const compute = group + "/providers/Microsoft.Compute/"
	const vm, instance, disk = compute + "virtualMachines/m", compute + "virtualMachineScaleSets/p/virtualMachines/0", compute + "disks/pvc-1"
	attachedTo := func(managedBy string, more object) object {
		out := withOwnerTag("", object{"managedBy": managedBy})
		for key, value := range more {
			out[key] = value
		}
		return out
	}
	shown := func(id, disk string) object {
		return newResource(id, nil,
			object{"storageProfile": object{"dataDisks": []object{{"lun": 0, "managedDisk": object{"id": disk}}, {"lun": 1}}}})
	}
	for name, test := range map[string]struct {
		reason string
		vm     object
		disk   object
		owner  string
		want   []arm.ID
	}{
		"VM": {"both documents show the attachment", shown(vm, disk), attachedTo(vm, nil), me, []arm.ID{disk}},
		"other case": {"IDs have no case", shown(vm, compute+"disks/PVC-1"), attachedTo(compute+"virtualMachines/M", nil), me,
			[]arm.ID{disk}},
		"instance": {"both documents show the attachment", shown(instance, disk), attachedTo(instance, nil), me, []arm.ID{disk}},
		"instance by its name": {"Azure has another name for it in disks", shown(instance, disk),
			attachedTo(compute+"virtualMachineScaleSets/p/virtualMachines/p_0", nil), me, []arm.ID{disk}},
		"instance of another set": {"it is attached to that", shown(instance, disk),
			attachedTo(compute+"virtualMachineScaleSets/q/virtualMachines/0", nil), me, nil},
		"another VM":   {"it was attached to that since", shown(vm, disk), attachedTo(compute+"virtualMachines/theirs", nil), me, nil},
		"detached":     {"it was detached since", shown(vm, disk), withOwnerTag("", nil), me, nil},
		"another disk": {"the VM does not have it", shown(vm, compute+"disks/pvc-2"), attachedTo(vm, nil), me, nil},
		"planned": {"the provider had Azure make it", shown(vm, compute+"disks/planned"),
			attachedTo(vm, object{"id": compute + "disks/planned"}), me, nil},
		"shares": {"other machines may use it", shown(vm, disk), attachedTo(vm, object{"properties": object{"maxShares": 2}}),
			me, nil},
		"several VMs": {"other machines use it", shown(vm, disk), attachedTo(vm, object{"managedByExtended": []string{vm, "/other"}}),
			me, nil},
		"user's disk": {"the CSI driver did not make it", shown(vm, disk), attachedTo(vm, object{"tags": object{"team": "a"}}), me,
			nil},
		"kept by its user": {"the user gave it up for the provider", shown(vm, disk),
			attachedTo(vm, object{"tags": object{"kubernetes.io-created-for-pvc-name": "data", infrav1.ClusterTagKey("c1"): "shared"}}), me, nil},
		"has the tag": {"nothing is sent twice", shown(vm, disk),
			attachedTo(vm, object{"tags": object{"kubernetes.io-created-for-pvc-name": "data", infrav1.VolumeTag: me}}), me, nil},
		"has the tag of another cluster": {"the VM that has it attached is this cluster's", shown(vm, disk),
			attachedTo(vm, object{"tags": object{"kubernetes.io-created-for-pvc-name": "data", infrav1.VolumeTag: "other/c1/2"}}), me,
			[]arm.ID{disk}},
		"no owner": {"the name does not distinguish the cluster from others", shown(vm, disk), attachedTo(vm, nil), "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := leftovers.Cluster{Name: "c1", Owner: test.owner, IsPlanned: func(id arm.ID) bool { return id.Name() == "planned" }}
			got := c.VolumesToTag(c.ListDataDisks(marshalAll(test.vm)), marshalAll(test.disk))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// TestProvesAttachment checks against a table which VMs and scale sets prove the owner of the disks that they have attached.
func TestProvesAttachment(t *testing.T) {
	ours := object{infrav1.ClusterTagKey("c1"): "owned", infrav1.OwnerTag: me}
	for name, test := range map[string]struct {
		reason string
		body   object
		want   bool
	}{
		"cluster's":     {"it carries the cluster's tags", newResource("/vm", ours, object{"provisioningState": "Succeeded"}), true},
		"being deleted": {"its disks were tagged before", newResource("/vm", ours, object{"provisioningState": "Deleting"}), false},
		"without tags":  {"any program may have created it", newResource("/vm", nil, nil), false},
		"another owner's": {"it is of a namesake",
			newResource("/vm", object{infrav1.ClusterTagKey("c1"): "owned", infrav1.OwnerTag: "other/c1/2"}, nil), false},
		"gone": {"there is nothing to prove with", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (leftovers.Cluster{Name: "c1", Owner: me}).ProvesAttachment(marshalAll(test.body)[0]); got != test.want {
				t.Errorf("%s: got %v", test.reason, got)
			}
		})
	}
}
