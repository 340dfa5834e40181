package refused_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestRefused lets Azure refuse a PUT of an AKS cluster with one more setting, for which AKS has no way back, and removes the setting
// again. It expects ResourcesReady as before: no Drifted stays for a setting that Azure never had.
func TestRefused(t *testing.T) {
	for name, test := range map[string]struct{ reason, setting string }{
		"default": {"AKS has a value of its own for the setting", `"oidcIssuerProfile":{"enabled":true}`},
		"immutable": {"AKS never adds the setting to a cluster", `"diskEncryptionSetReference":{"armId":` +
			`"/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/c1/providers/Microsoft.Compute/diskEncryptionSets/d"}`},
		"no default": {"AKS has no value without the setting",
			`"linuxProfile":{"adminUsername":"azureuser","ssh":{"publicKeys":[{"keyData":"ssh-rsa AAAA"}]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := virtual.New(t)
				w.StartProvider()
				c := w.BuildASOCluster("c1", "pool0")
				w.CreateASOCluster(c)
				manifest := c.ControlPlane.Spec.Resources[0].Raw
				rewrite := func(raw []byte) {
					object := &infrav1.AzureASOManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}
					harness.ChangeObject(w.Stage, object, func(o *infrav1.AzureASOManagedControlPlane) { o.Spec.Resources[0].Raw = raw })
				}
				if err := w.Sim.AddFault(fault.Rule{Method: "PUT", Type: "Microsoft.ContainerService/managedClusters", Kind: fault.Status, Status: 400,
					Code: "BadRequest", Message: "Refused.", Count: -1}); err != nil {
					t.Fatal(err)
				}
				shown := func() metav1.Condition {
					object := &infrav1.AzureASOManagedControlPlane{}
					w.ReadObject(object, "c1")
					condition := harness.FindCondition(object, infrav1.ResourcesReadyCondition)
					if condition.ObservedGeneration != object.Generation {
						return metav1.Condition{}
					}
					return condition
				}
				rewrite(bytes.Replace(manifest, []byte(`"dnsPrefix":"c1"`), []byte(`"dnsPrefix":"c1",`+test.setting), 1))
				w.WaitUntil("Azure has refused it", func() bool { return strings.Contains(shown().Message, "BadRequest: Refused") })
				w.Sim.ClearFaults()
				rewrite(manifest)
				w.WaitUntil("the documents are in place", func() bool { return w.InPlace(c) })
				virtual.WaitForSignal(nil, time.Hour)
				if got := shown(); got.Status != metav1.ConditionTrue || got.Reason != infrav1.ReadyReason {
					t.Errorf("%s: Azure never had it: %s, %s, %s", test.reason, got.Status, got.Reason, got.Message)
				}
			})
		})
	}
}

// TestRefusedBeforeRestart kills the manager when Azure has refused the PUT and before the manager has read the answer. Whether the
// setting is removed before or after the next manager starts, no Drifted stays for a setting that Azure never had. The exception is a
// setting for which AKS shows a value of its own, removed while no manager ran: the record has no values, so the value may have been
// sent.
func TestRefusedBeforeRestart(t *testing.T) {
	for name, test := range map[string]struct {
		reason, setting string
		// whileDown is set if the setting is taken out while no manager runs.
		whileDown bool
		want      string
	}{
		"taken out after the restart": {"the next manager sends the setting again and learns that it is refused",
			`"oidcIssuerProfile":{"enabled":true}`, false, infrav1.ReadyReason},
		"no default": {"Azure does not show it",
			`"linuxProfile":{"adminUsername":"azureuser","ssh":{"publicKeys":[{"keyData":"ssh-rsa AAAA"}]}}`, true, infrav1.ReadyReason},
		"immutable": {"Azure does not show it", `"diskEncryptionSetReference":{"armId":` +
			`"/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/c1/providers/Microsoft.Compute/diskEncryptionSets/d"}`, true,
			infrav1.ReadyReason},
		"default": {"the value of AKS may be the one that was sent", `"oidcIssuerProfile":{"enabled":true}`, true, infrav1.DriftedReason},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := virtual.New(t)
				manager := w.StartProvider()
				c := w.BuildASOCluster("c1", "pool0")
				w.CreateASOCluster(c)
				manifest := c.ControlPlane.Spec.Resources[0].Raw
				rewrite := func(raw []byte) {
					object := &infrav1.AzureASOManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}
					harness.ChangeObject(w.Stage, object, func(o *infrav1.AzureASOManagedControlPlane) { o.Spec.Resources[0].Raw = raw })
				}
				shown := func() metav1.Condition {
					object := &infrav1.AzureASOManagedControlPlane{}
					w.ReadObject(object, "c1")
					return harness.FindCondition(object, infrav1.ResourcesReadyCondition)
				}
				if err := w.Sim.AddFault(fault.Rule{Method: "PUT", Type: "Microsoft.ContainerService/managedClusters", Kind: fault.Status, Status: 400,
					Code: "BadRequest", Message: "Refused.", Count: -1}); err != nil {
					t.Fatal(err)
				}
				manager.DieAtWrite(1, false)
				rewrite(bytes.Replace(manifest, []byte(`"dnsPrefix":"c1"`), []byte(`"dnsPrefix":"c1",`+test.setting), 1))
				<-manager.Killed
				manager.StopManager()
				if test.whileDown {
					w.Sim.ClearFaults()
					rewrite(manifest)
					w.StartProvider()
				} else {
					w.StartProvider()
					w.WaitUntil("Azure has refused it", func() bool { return strings.Contains(shown().Message, "BadRequest: Refused") })
					w.Sim.ClearFaults()
					rewrite(manifest)
				}
				w.WaitUntil("the documents are in place", func() bool { return w.InPlace(c) })
				virtual.WaitForSignal(nil, time.Hour)
				if got := shown(); got.Status != metav1.ConditionTrue || got.Reason != test.want {
					t.Errorf("%s: want %s, got %s, %s, %s", test.reason, test.want, got.Status, got.Reason, got.Message)
				}
			})
		})
	}
}
