package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/test/programs/neighbor"
)

// step uses one module of the SDK.
type step struct {
	module string
	use    func(ctx context.Context) error
	// writes are the requests that it sends to change something.
	writes []string
}

const (
	// otherGroup is a resource group of the program's own.
	otherGroup = "other"
	inGroup    = "resourceGroups/" + neighbor.Group + "/"
	compute    = inGroup + "Microsoft.Compute/"
	network    = inGroup + "Microsoft.Network/"
)

// TestNewestModules uses each module beside a cluster: it reads the resources of the provider, and creates resources in the group of the cluster and
// in another one. The provider writes nothing because of it, and deletes what is in the cluster's own group with the cluster.
func TestNewestModules(t *testing.T) {
	neighbor.Play(t, func(c *neighbor.Cluster) {
		p, err := newProgram(c)
		if err != nil {
			c.T.Fatal(err)
		}
		for _, step := range p.listSteps() {
			mark := c.Azure.MarkRequests()
			if err := step.use(c.T.Context()); err != nil {
				c.T.Fatalf("%s: %v", step.module, err)
			}
			if diff := cmp.Diff(step.writes, c.OtherWritesSince(mark)); diff != "" {
				c.T.Errorf("writes of %s (-want +got):\n%s", step.module, diff)
			}
			c.CheckNoWrites(mark)
		}
		c.Delete()
		if left := c.ListLeft(neighbor.Group); len(left) > 0 {
			c.T.Errorf("left in the cluster's group: %q", left)
		}
		// The SDK of identities spells the collection of groups in small letters, and Azure keeps the spelling of the ID.
		want := []string{"resourceGroups/other", "resourcegroups/other/Microsoft.ManagedIdentity/userAssignedIdentities/program"}
		if diff := cmp.Diff(want, c.ListLeft(otherGroup)); diff != "" {
			c.T.Errorf("resources in the other group (-want +got):\n%s", diff)
		}
	})
}

// expectNames compares the names of what a client lists with those that it has to list at least.
func expectNames(what string, have, want []string) error {
	for _, name := range want {
		if !slices.ContainsFunc(have, func(h string) bool { return strings.EqualFold(h, name) }) {
			return fmt.Errorf("%s are %q, want %s among them", what, have, name)
		}
	}
	return nil
}

var errMissing = errors.New("the answer lacks what was asked for")
