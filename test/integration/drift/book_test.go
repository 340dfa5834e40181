package drift_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the page of the book")

const page = "../../../docs/book/drift.md"

const introduction = `# Changes outside

What is changed in Azure beside the provider, by a person, by cloud-provider-azure or by a policy, is found at the next
look at the object: within ` + "`--sync-period`" + `, ten minutes by default, or when the object changes. One of three things happens:

- **repaired**: the resource is brought back to what the spec says
- **reported**: the condition of the resource's kind says what is different, and nothing is written: with status True and the
  reason ` + "`Drifted`" + ` as long as the object works, with status False when it does not
- **kept**: it is not the provider's business, stays through all repairs, and nothing is said

What is not repaired differs because Azure was changed or because the spec was, and the message says which: a resource "was
changed outside", or "cannot be changed, and the spec has other values". Where the manager has not seen the two agree, as
when one was changed while no manager ran, it says only that the resource "differs from the spec".

What Azure's list of all resources of the subscription shows, which is each write to a resource that can carry tags, its deletion,
and its tags, is found then. What that list does not show is read once in ` + "`--full-sync-period`" + `, an hour by default, and found then: tags of
resource groups; subnets, peerings, security rules, routes, inbound NAT rules, DNS records, role assignments and agent pools, where Azure
does not have them change the time of the resource that they are in; what AKS changes of a cluster by itself, as its version after an
automatic upgrade; instances of AKS pools that come or go without a change of their scale set; and kubeconfigs that were rotated by hand.
With ` + "`--full-sync-period=0`" + ` all is found at the next look. Whoever may not list the resources of the subscription or group reads all each time.

A machine that is stopped is found at the next look, as everything else: whether machines run is part of the list that all
machines of a resource group share, and costs no request of its own. An AKS cluster that is stopped is found at the next look, too: each look reads
the cluster.

Of a paused object nothing is read, repaired or reported until it goes on. Resources that you bring are never changed. Every
line of the table is tried by the tests in ` + "`test/integration/drift`" + `, which also write this page.
[Programs that share resources with the provider](shared-resources.md) lists what other programs write, and how.

| Resource | Changed outside | Outcome | |
|---|---|---|---|
`

// TestBook makes sure that the page of the book says what is tried.
func TestBook(t *testing.T) {
	var want strings.Builder
	want.WriteString(introduction)
	seen := map[string]bool{}
	for _, r := range rows() {
		key := r.resource + ": " + r.change
		if seen[key] {
			t.Errorf("%s is in the table twice", key)
		}
		seen[key] = true
		if r.outcome == kept && r.holds == nil || r.outcome == reported && r.want.Type == "" || r.object == "" || r.path == "" {
			t.Errorf("%s does not say how its outcome is told", key)
		}
		fmt.Fprintf(&want, "| %s | %s | %s | %s |\n", r.resource, r.change, r.outcome, r.note)
	}
	if *update {
		if err := os.WriteFile(page, []byte(want.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(have), want.String()); diff != "" {
		t.Errorf("run go test ./test/integration/drift -run Book -update (-have +want):\n%s", diff)
	}
}
