package transferred_test

import (
	"bytes"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// writes are the writes to Azure since the last call of take.
type writes struct {
	mu   sync.Mutex
	sent []string
}

func recordWrites(s *virtual.Scenario) *writes {
	w := &writes{}
	s.Written = func(request *http.Request) {
		if strings.Contains(request.URL.Path, "/listCluster") {
			return // It reads a kubeconfig.
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.sent = append(w.sent, request.Method+" "+strings.TrimPrefix(request.URL.Path, "/subscriptions/"+server.DefaultSubscription))
	}
	return w
}

func (w *writes) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.sent
	w.sent = nil
	return out
}

const identityManifest = `
apiVersion: managedidentity.azure.com/v20241130
kind: UserAssignedIdentity
metadata:
  name: nodes
spec:
  location: eastus
  owner: {name: docs}
`

// TestManifestMovesBetweenObjects adds a manifest to a second object of the Cluster and removes it from the first one. The resource stays: a new
// identity would have other roles, and a new account no data. When the last manifest goes, it is deleted.
func TestManifestMovesBetweenObjects(t *testing.T) {
	virtual.PlayWith(t, virtual.Options{Azure: server.Options{Seed: 7}}, func(s *virtual.Scenario) {
		sent := recordWrites(s)
		s.StartProvider()
		c := s.BuildASOCluster("docs", "pool0")
		manifest := s.ParseManifest(identityManifest)
		c.ControlPlane.Spec.Resources = append(c.ControlPlane.Spec.Resources, manifest)
		s.CreateASOCluster(c)
		sent.take()
		harness.ChangeObject(s.Stage, c.Infrastructure, func(o *infrav1.AzureASOManagedCluster) { o.Spec.Resources = append(o.Spec.Resources, manifest) })
		virtual.WaitForSignal(nil, 30*time.Minute)
		harness.ChangeObject(s.Stage, c.ControlPlane, func(o *infrav1.AzureASOManagedControlPlane) {
			o.Spec.Resources = o.Spec.Resources[:len(o.Spec.Resources)-1]
		})
		virtual.WaitForSignal(nil, 30*time.Minute)
		if got := sent.take(); len(got) > 0 || !s.InPlace(c) {
			t.Errorf("a manifest moved, and Azure was written: %v", got)
		}
		harness.ChangeObject(s.Stage, c.Infrastructure, func(o *infrav1.AzureASOManagedCluster) {
			o.Spec.Resources = o.Spec.Resources[:len(o.Spec.Resources)-1]
		})
		virtual.WaitForSignal(nil, 30*time.Minute)
		if got := sent.take(); len(got) != 1 || !strings.HasPrefix(got[0], "DELETE ") || !strings.HasSuffix(got[0], "/userAssignedIdentities/nodes") {
			t.Errorf("the last manifest was removed: %v", got)
		}
	})
}

// TestDeletedObjectSharesAPool deletes an object that has the manifest of another object's agent pool. The pool stays, and goes with the other one.
func TestDeletedObjectSharesAPool(t *testing.T) {
	virtual.PlayWith(t, virtual.Options{Azure: server.Options{Seed: 7}}, func(s *virtual.Scenario) {
		sent := recordWrites(s)
		s.StartProvider()
		c := s.BuildASOCluster("docs", "pool0", "pool1")
		s.CreateASOCluster(c)
		sent.take()
		second := shareAgentPool(s, "docs-pool1", "docs-second")
		virtual.WaitForSignal(nil, 30*time.Minute)
		if got := sent.take(); len(got) > 0 {
			t.Errorf("a second object has the manifest of a pool, and Azure was written: %v", got)
		}
		s.DeleteObjects(virtual.MachinePool("docs-second"), second)
		s.WaitUntilGone(second)
		virtual.WaitForSignal(nil, 30*time.Minute)
		if got := sent.take(); len(got) > 0 || !s.InPlace(c) {
			t.Errorf("the second object was deleted: %v", got)
		}
		first := &infrav1.AzureASOManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "docs-pool1"}}
		s.DeleteObjects(virtual.MachinePool("docs-pool1"), first)
		s.WaitUntilGone(first)
		if got := sent.take(); len(got) != 1 || !strings.HasSuffix(got[0], "/agentPools/pool1") {
			t.Errorf("the last object was deleted: %v", got)
		}
	})
}

// shareAgentPool makes a MachinePool with an AzureASOManagedMachinePool that has the agent pool of another one.
func shareAgentPool(s *virtual.Scenario, of, name string) *infrav1.AzureASOManagedMachinePool {
	pool, machinePool := &infrav1.AzureASOManagedMachinePool{}, &clusterv1.MachinePool{}
	s.ReadObject(pool, of)
	s.ReadObject(machinePool, of)
	second := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name, Labels: machinePool.Labels},
		Spec: *machinePool.Spec.DeepCopy()}
	second.Spec.Template.Spec.InfrastructureRef.Name = name
	s.CreateObject(second)
	out := &infrav1.AzureASOManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name,
		Labels: map[string]string{clusterv1.ClusterNameLabel: machinePool.Spec.ClusterName},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool", Name: name, UID: second.UID,
			Controller: new(true)}}}, Spec: pool.Spec}
	out.Spec.ProviderIDList = nil
	out.Spec.Resources[0].Raw = bytes.Replace(out.Spec.Resources[0].Raw, []byte(`"`+of+`"`), []byte(`"`+name+`"`), 1)
	s.CreateObject(out)
	return out
}

// TestCredentialOfAnotherSubscription gives the Secret of a cluster's credential another subscription. Nothing is made there, because the
// cluster would run on in the first one, and a deletion waits, too. With the first subscription all is as before.
func TestCredentialOfAnotherSubscription(t *testing.T) {
	const other = "00000000-0000-0000-0000-000000000002"
	options := virtual.Options{Azure: server.Options{Seed: 7, Subscriptions: []string{server.DefaultSubscription, other}}}
	virtual.PlayWith(t, options, func(s *virtual.Scenario) {
		sent := recordWrites(s)
		s.StartProvider()
		c := s.BuildASOCluster("docs", "pool0", "pool1")
		s.CreateASOCluster(c)
		sent.take()
		name := func(subscription string) {
			harness.ChangeObject(s.Stage, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: harness.OperatorSecret}},
				func(o *corev1.Secret) { o.Data["AZURE_SUBSCRIPTION_ID"] = []byte(subscription) })
			virtual.WaitForSignal(nil, time.Hour)
		}
		name(other)
		if got := sent.take(); len(got) > 0 {
			t.Errorf("the subscription of the credential changed, and Azure was written: %v", got)
		}
		for _, object := range []harness.Conditioned{c.Infrastructure, c.ControlPlane, c.Pools[0]} {
			s.ReadObject(object, object.GetName())
			ready := harness.FindCondition(object, infrav1.ReadyCondition)
			if ready.Reason != infrav1.InvalidConfigurationReason || !strings.Contains(ready.Message, other) {
				t.Errorf("%T: %+v", object, ready)
			}
		}
		name(server.DefaultSubscription)
		if got := sent.take(); len(got) > 0 || !s.InPlace(c) {
			t.Errorf("the subscription is the first one again: %v", got)
		}
		name(other)
		s.DeleteObjects(virtual.MachinePool("docs-pool1"), c.Pools[1])
		virtual.WaitForSignal(nil, time.Hour)
		if got := sent.take(); len(got) > 0 {
			t.Errorf("the pool cannot be deleted with this credential: %v", got)
		}
		s.ReadObject(c.Pools[1], "docs-pool1")
		if ready := harness.FindCondition(c.Pools[1], infrav1.ReadyCondition); !strings.Contains(ready.Message, other) {
			t.Errorf("the deletion waits without a reason: %+v", ready)
		}
	})
}
