package established_test

import (
	"strings"
	"testing"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
)

// TestMigrateExternallyManaged checks that a migration does not wait for an AzureCluster that another manager reconciles, and that the
// annotation has no effect on an AzureMachine.
func TestMigrateExternallyManaged(t *testing.T) {
	installCluster(t)
	c := &fakeClusterctl{t: t, former: formerObjects(t), released: releasedObjects(t), idle: true}
	t.Cleanup(func() { deleteAll(t, c.released); forgetMigration(t) })
	for kind, name := range map[string]string{"AzureCluster": "one", "AzureMachine": "one-worker-b"} {
		object := readObject(t, migration.GroupVersion.WithKind(kind), name)
		annotations := object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[clusterv1.ManagedByAnnotation] = "network-team"
		object.SetAnnotations(annotations)
		storeInEtcd(t, object)
	}
	move := newMove(t, c, 1000)
	move.Timeout = 200 * time.Millisecond
	_, err := move.Forward(t.Context())
	if err == nil || strings.Contains(err.Error(), "AzureCluster ") || !strings.Contains(err.Error(), "AzureMachine default/one-worker-b is not reconciled") {
		t.Errorf("a migration without a manager ends with %v", err)
	}
}
