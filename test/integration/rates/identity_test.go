package rates_test

import (
	"fmt"
	"strings"
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestManyClustersShareAnIdentityWithoutConflicts makes twenty clusters at once that use one identity. Each puts its finalizer on it, which
// is nothing that the others have to do with: none sees a conflict, and none is reconciled for it.
func TestManyClustersShareAnIdentityWithoutConflicts(t *testing.T) {
	t.Parallel()
	playCounted(t, func(c *counted) {
		c.CreateIdentity()
		// A cluster takes 14 to 29 reconciliations, because events that are close to each other start one together or two; on average it
		// takes 17 to 22. One for each finalizer of another cluster is seven more on average, because several of these events start one
		// together.
		const clusters, most = 20, 25
		c.subjects = append(c.subjects, subject{kind: "AzureClusterIdentity", name: harness.IdentityName})
		for i := range clusters {
			c.subjects = append(c.subjects, subject{kind: "AzureCluster", name: fmt.Sprintf("c%d", i)})
		}
		for _, s := range c.subjects[1:] {
			c.CreateCluster(c.AzureCluster(s.name))
		}
		for _, s := range c.subjects[1:] {
			c.WaitClusterProvisioned(s.name)
			for _, event := range c.ListEvents(s.kind, s.name) {
				if strings.HasPrefix(event, "Warning") {
					c.T.Errorf("%s: %s", s.name, event)
				}
			}
		}
		for _, text := range []string{"object has been modified", "add the finalizer to the identity"} {
			for _, line := range c.Environment.Logs.LinesContaining(text) {
				if strings.Contains(line, c.Namespace) && strings.Contains(line, "Reconciler error") {
					c.T.Errorf("a reconciliation failed: %s", line)
				}
			}
		}
		identity := &infrav1.AzureClusterIdentity{}
		c.ReadObject(identity, harness.IdentityName)
		if holds := len(identity.Finalizers); holds != clusters {
			c.T.Errorf("%d clusters have %d finalizers on the identity", clusters, holds)
		}
		reconciled := c.listReconciliations(0)
		total := 0
		for i, p := range reconciled {
			c.T.Logf("%s: %d reconciliations", c.subjects[i].name, p.count())
			if i > 0 {
				total += p.count()
			}
		}
		if reconciled[0].count() > clusters+5 {
			c.T.Errorf("the identity took %d reconciliations for %d clusters", reconciled[0].count(), clusters)
		}
		if total > clusters*most {
			c.T.Errorf("%d clusters took %d reconciliations, more than %d each: they react to the finalizers of other clusters", clusters, total, most)
		}
	})
}
