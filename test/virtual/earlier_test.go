package virtual_test

import (
	"bytes"
	"testing"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// firstRead calls a function at the next GET request that Azure answers.
type firstRead struct{ do func() }

// Write implements io.Writer for the request log.
func (f *firstRead) Write(line []byte) (int, error) {
	if do := f.do; do != nil && bytes.Contains(line, []byte(`"GET"`)) {
		f.do = nil
		do()
	}
	return len(line), nil
}

// TestWritesBetweenChanges deletes a machine, and the cluster at the same moment as soon as the manager reads the resources of the machine. The
// manager deletes the VM then, as a plan of the state between the two changes does. A plan of the state after them deletes the resource group only.
func TestWritesBetweenChanges(t *testing.T) {
	read := &firstRead{}
	virtual.PlayWith(t, virtual.Options{Azure: server.Options{Seed: 7, RequestLog: read}, AtOnce: true}, func(s *virtual.Scenario) {
		s.StartProvider()
		s.BuildCluster("c1", 0)
		s.WaitQuiet()
		remove := func(object client.Object, name string) {
			s.ReadObject(object, name)
			if err := s.Client.Delete(s.T.Context(), object); err != nil {
				s.T.Error(err)
			}
		}
		read.do = func() {
			for _, name := range []string{"c1-control-plane-1", "c1-control-plane-2"} {
				remove(&infrav1.AzureMachine{}, name)
			}
			remove(&clusterv1.Cluster{}, "c1")
			remove(&infrav1.AzureCluster{}, "c1")
		}
		remove(&infrav1.AzureMachine{}, "c1-control-plane-0")
		s.WaitUntil("the resource group is gone", func() bool {
			_, exists := s.FindResource("resourceGroups/c1")
			return !exists
		})
	})
}
