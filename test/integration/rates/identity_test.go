package rates_test

import (
	"fmt"
	"strings"
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestManyClustersShareAnIdentityWithoutConflicts makes twenty clusters at once that use one identity. Each puts its finalizer on it, which is nothing that the
// others have to do with: none sees a conflict, and none does a pass for it.
func TestManyClustersShareAnIdentityWithoutConflicts(t *testing.T) {
	t.Parallel()
	playCounted(t, func(c *counted) {
		c.CreateIdentity()
		// A cluster takes 14 to 29 passes, because events that are close to each other start one pass together or two; on average it takes 17
		// to 22. A pass for each finalizer of another cluster is seven more on average, because several of these events are one pass, too.
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
					c.T.Errorf("a pass failed: %s", line)
				}
			}
		}
		identity := &infrav1.AzureClusterIdentity{}
		c.ReadObject(identity, harness.IdentityName)
		if holds := len(identity.Finalizers); holds != clusters {
			c.T.Errorf("%d clusters have %d holds on the identity", clusters, holds)
		}
		passes := c.listPasses(0)
		total := 0
		for i, p := range passes {
			c.T.Logf("%s: %d passes", c.subjects[i].name, p.count())
			if i > 0 {
				total += p.count()
			}
		}
		if passes[0].count() > clusters+5 {
			c.T.Errorf("the identity took %d passes for %d clusters", passes[0].count(), clusters)
		}
		if total > clusters*most {
			c.T.Errorf("%d clusters took %d passes, more than %d each: they react to the finalizers of other clusters", clusters, total, most)
		}
	})
}
