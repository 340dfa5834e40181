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

const introduction = `# Programs that share resources with the provider

Other programs write into the Azure resources that the provider makes. The provider keeps their entries, and does not write a resource
because of them. When it writes the resource for another reason, as a change of the spec, it sends the entries along.

Each row of the table is a test in ` + "`test/integration/sharedwriters`" + `: it writes the entry with the verb and body of that program, lets the
provider look at all objects because they changed, at several resyncs and at a full one, counts its writes (0), changes the spec, and checks
the entry again. The rows about cloud-provider-azure and its disk driver follow their source, version v1.36.5. The others follow
Microsoft's documentation. The page is written by the same tests.

[Changes outside](drift.md) lists what the provider repairs.

| Program | Resource | Entry | Written with |
|---|---|---|---|
`

const end = `
Not in the table, because the provider does not write these resources: public IP addresses and private link services of Services, disks of
volumes, storage accounts and private endpoints of the CSI drivers, and the node resource group of an AKS cluster.

What the provider itself put into such a list, and the spec wants no more, is removed: a backend pool, an extension, a rule, an identity. It
remembers them in the annotation ` + "`sigs.k8s.io/cluster-api-provider-azure-last-applied`" + `.

A PUT of cloud-provider-azure has no tags. Microsoft's [page on PUTs](https://learn.microsoft.com/en-us/previous-versions/azure/virtual-machines/put-calls-create-or-update)
says that scale sets keep what a PUT leaves out, and does not name tags. The tests assume that tags stay.
`

// TestBook makes sure that the page of the book has the rows.
func TestBook(t *testing.T) {
	var want strings.Builder
	want.WriteString(introduction)
	seen := map[string]bool{}
	for _, r := range rows() {
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
