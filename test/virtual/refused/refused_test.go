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
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual/clusters"
)

// TestRefused has Azure refuse a PUT of an AKS cluster with one more setting, for which AKS has no way back, and takes the setting out again.
// ResourcesReady is as before: no Drifted stays for what Azure never had.
func TestRefused(t *testing.T) {
	// A setting that Azure fills in by itself, as oidcIssuerProfile.enabled, is reported as Drifted: what was sent is remembered without its value.
	for name, setting := range map[string]string{
		"without a default": `"linuxProfile":{"adminUsername":"azureuser","ssh":{"publicKeys":[{"keyData":"ssh-rsa AAAA"}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := clusters.New(t)
				w.Manage()
				c := w.Documents("c1", "pool0")
				w.MakeDocuments(c)
				rewrite := func(from, to string) {
					object := &infrav1.AzureASOManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}
					harness.Change(w.Stage, object, func(o *infrav1.AzureASOManagedControlPlane) {
						o.Spec.Resources[0].Raw = bytes.Replace(o.Spec.Resources[0].Raw, []byte(from), []byte(to), 1)
					})
				}
				if err := w.Sim.AddFault(fault.Rule{Method: "PUT", Type: "Microsoft.ContainerService/managedClusters", Kind: fault.Status, Status: 400, Code: "BadRequest", Message: "Refused.", Count: -1}); err != nil {
					t.Fatal(err)
				}
				shown := func() metav1.Condition {
					object := &infrav1.AzureASOManagedControlPlane{}
					w.Get(object, "c1")
					condition := harness.Condition(object, infrav1.ResourcesReadyCondition)
					if condition.ObservedGeneration != object.Generation {
						return metav1.Condition{}
					}
					return condition
				}
				rewrite(`"dnsPrefix":"c1"`, `"dnsPrefix":"c1",`+setting)
				w.Until("Azure has refused it", func() bool { return strings.Contains(shown().Message, "Refused.") })
				w.Sim.ClearFaults()
				rewrite(","+setting, "")
				w.Until("the documents are in place", func() bool { return w.InPlace(c) })
				virtual.Wait(nil, time.Hour)
				if got := shown(); got.Status != metav1.ConditionTrue || got.Reason != infrav1.ReadyReason {
					t.Errorf("Azure never had it: %s, %s, %s", got.Status, got.Reason, got.Message)
				}
			})
		})
	}
}
