package harness

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// WriteRecorder is a manager that records its writes to Kubernetes.
type WriteRecorder interface{ KubernetesWrites() []string }

// QuietManaged watches an AKS cluster that is in order for some resyncs: nothing is written, neither to Azure nor to
// Kubernetes. It returns how often Azure was asked.
func (s *Stage) QuietManaged(manager WriteRecorder, resyncs int) int {
	s.T.Helper()
	// The reconciliations that found the objects Ready may have more to report, and write after their last read from Azure.
	for calm := 0; calm < 2; calm++ {
		written := len(manager.KubernetesWrites())
		s.ResyncManaged()
		if written != len(manager.KubernetesWrites()) {
			calm = -1
		}
	}
	mark, before := s.Azure.MarkRequests(), len(manager.KubernetesWrites())
	for range resyncs {
		s.ResyncManaged()
	}
	if writes := DropKubeconfigReads(s.Azure.WritesSince(mark)); len(writes) > 0 {
		s.T.Errorf("nothing changed, but Azure was written to: %q", writes)
	}
	if writes := manager.KubernetesWrites()[before:]; len(writes) > 0 {
		s.T.Errorf("nothing changed, but Kubernetes was written to: %q", writes)
	}
	return len(s.Azure.RequestsSince(mark)) - len(s.Azure.WritesSince(mark))
}

// ResyncManaged waits until the AKS cluster and all of its pools are reconciled again. A reconciliation of the cluster ends with a request for
// its kubeconfig, one of a pool with a list of the machines of its scale set, unless the pool is shown as stopped.
func (s *Stage) ResyncManaged() {
	s.T.Helper()
	s.ResyncUntil("the cluster and its pools are reconciled again", func(requests []string) bool {
		kubeconfig, machines := false, map[string]bool{}
		for _, request := range requests {
			kubeconfig = kubeconfig || strings.HasPrefix(request, "POST ") && strings.Contains(request, "/listCluster")
			if strings.HasPrefix(request, "GET ") && strings.Contains(request, "/virtualMachines ") {
				machines[request] = true
			}
		}
		return kubeconfig && len(machines) >= s.countRunningPools()
	})
}

// countRunningPools returns the number of pools of AKS that are not shown as stopped.
func (s *Stage) countRunningPools() (count int) {
	s.T.Helper()
	for _, list := range []client.ObjectList{&infrav1.AzureManagedMachinePoolList{}, &infrav1.AzureASOManagedMachinePoolList{}} {
		if err := s.Client.List(s.T.Context(), list, client.InNamespace(s.Namespace)); err != nil {
			s.T.Fatal(err)
		}
		if err := meta.EachListItem(list, func(item runtime.Object) error {
			if FindCondition(item.(Conditioned), infrav1.ReadyCondition).Reason != infrav1.StoppedReason {
				count++
			}
			return nil
		}); err != nil {
			s.T.Fatal(err)
		}
	}
	return count
}

// DropKubeconfigReads returns the writes but for those that ask for a kubeconfig, sorted.
func DropKubeconfigReads(writes []string) []string {
	out := []string{}
	for _, write := range writes {
		if !strings.HasPrefix(write, "POST ") || !strings.Contains(write, "/listCluster") {
			out = append(out, write)
		}
	}
	slices.Sort(out)
	return out
}
