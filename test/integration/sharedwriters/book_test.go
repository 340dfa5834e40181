package sharedwriters_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the page of the book")

const page = "../../../docs/book/shared-resources.md"

// introduction is the beginning of the page. Each row of its table is a test: it writes the entry with the verb and body of that program, lets
// the provider reconcile all objects because they changed, at several regular syncs and at a full sync, counts its writes (0), changes the spec, and
// checks the entry again. The rows of cloud-provider-azure and its disk driver follow their source, version v1.36.5. The others follow
// Microsoft's documentation.
const introduction = `# Programs that share resources with the provider

Check which entries of other programs the provider keeps in its resources, for example rules of cloud-provider-azure in a security group. The provider does not write a resource because of these entries. If it writes
the resource for another reason, such as a change of the spec, the entries stay. [Drift detection and repair](drift.md) lists the changes that the provider repairs.

| Program | Resource | Entry | Written with |
|---|---|---|---|
`

const end = `
The table leaves out resources that the provider does not write:

- public IP addresses and private link services of Services
- disks of volumes
- storage accounts and private endpoints of the CSI drivers
- the node resource group of an AKS cluster

If an entry is removed from the spec, for example a backend pool, an extension, a rule or an identity, the provider removes it in Azure. It records its entries
in the annotation ` + "`sigs.k8s.io/cluster-api-provider-azure-applied`" + `.

A PUT of cloud-provider-azure has no tags. According to Microsoft's [page on PUTs](https://learn.microsoft.com/en-us/previous-versions/azure/virtual-machines/put-calls-create-or-update),
scale sets keep settings that a PUT leaves out. The page does not mention tags. That tags stay is an assumption.
`

// TestBook makes sure that the page of the book has the rows.
func TestBook(t *testing.T) {
	var want strings.Builder
	want.WriteString(introduction)
	seen := map[string]bool{}
	for _, r := range listRows() {
		key := r.program + ": " + r.resource + ": " + r.entry
		if seen[key] {
			t.Errorf("%s is in the table twice", key)
		}
		seen[key] = true
		if r.verb == "" || r.in == nil || r.write == nil || r.kept == nil || (r.change == nil) != (r.sends == "") {
			t.Errorf("%s is not whole", key)
		}
		fmt.Fprintf(&want, "| %s | %s | %s | %s |\n", r.program, r.resource, r.entry, r.verb)
	}
	want.WriteString(end)
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
		t.Errorf("run go test ./test/integration/sharedwriters -run Book -update (-have +want):\n%s", diff)
	}
}
