package flavors

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// maxListingWidth is the number of columns that kubectl get -o wide may need for objects that are in order.
const maxListingWidth = 200

// CheckListings fails the test if a cluster that is in order looks like one that is not: a Warning was emitted, or kubectl get shows another
// value of READY than True. It fails, too, if the wide output of a kind does not fit a terminal.
func CheckListings(stage *harness.Stage, config *rest.Config) {
	stage.T.Helper()
	for _, warning := range stage.ListWarnings() {
		// The AKS clusters of these tests have no API server, as those that the manager cannot reach.
		if !strings.Contains(warning, infrav1.WorkloadClusterUnreachableReason) {
			stage.T.Errorf("everything is in order, and a Warning was emitted: %s", warning)
		}
	}
	for _, resource := range listResources(stage, config) {
		table := readTable(stage, config, resource)
		if len(table.Rows) == 0 {
			continue
		}
		if width := wideWidth(table); width >= maxListingWidth {
			stage.T.Errorf("kubectl get %s -o wide needs %d columns, want less than %d", resource, width, maxListingWidth)
		} else {
			stage.T.Logf("kubectl get %s -o wide needs %d columns", resource, width)
		}
		for _, row := range table.Rows {
			checkRow(stage, resource, table.ColumnDefinitions, row)
		}
	}
}

// checkRow checks the cells of an object that is in order.
func checkRow(stage *harness.Stage, resource string, columns []metav1.TableColumnDefinition, row metav1.TableRow) {
	stage.T.Helper()
	for i, column := range columns {
		value := fmt.Sprint(row.Cells[i])
		wrong := false
		switch column.Name {
		case "Ready":
			wrong = value != "True"
		case "Reason":
			wrong = value != infrav1.ReadyReason
		case "Zone", "Paused", "ClusterClass", "Cluster", "Location", "CPU", "Memory", "Message":
			// Regions without zones, objects that are not part of a Cluster, and templates that are used by none have no value.
		case "Version":
			// The version of a VM of a pool is that of its kubelet, and these machines do not boot.
			wrong = resource != "azuremachinepoolmachines" && value == ""
		default:
			wrong = row.Cells[i] == nil || value == ""
		}
		if wrong {
			stage.T.Errorf("%s %v is in order, and kubectl get shows %s=%s", resource, row.Cells[0], column.Name, value)
		}
	}
}

// wideWidth returns the width of the wide output as kubectl pads it: three spaces after the longest cell of each column, and at least six.
// The last column is not padded.
func wideWidth(table metav1.Table) (out int) {
	for i, column := range table.ColumnDefinitions {
		longest := len(column.Name)
		for _, row := range table.Rows {
			if row.Cells[i] != nil {
				longest = max(longest, len(fmt.Sprint(row.Cells[i])))
			}
		}
		if i < len(table.ColumnDefinitions)-1 {
			longest = max(6, longest+3)
		}
		out += longest
	}
	return out
}

// listResources returns the plural names of the provider's kinds.
func listResources(stage *harness.Stage, config *rest.Config) (out []string) {
	stage.T.Helper()
	var list metav1.APIResourceList
	request(stage, config, "", &list)
	for _, resource := range list.APIResources {
		if !strings.Contains(resource.Name, "/") {
			out = append(out, resource.Name)
		}
	}
	return out
}

// readTable reads the objects of a kind as kubectl get does.
func readTable(stage *harness.Stage, config *rest.Config, resource string) (out metav1.Table) {
	stage.T.Helper()
	request(stage, config, "/namespaces/"+stage.Namespace+"/"+resource, &out)
	return out
}

// request reads a path below the provider's API, as a table if it has one.
func request(stage *harness.Stage, config *rest.Config, path string, into any) {
	stage.T.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		stage.T.Fatal(err)
	}
	asked, err := http.NewRequestWithContext(stage.T.Context(), http.MethodGet, strings.TrimSuffix(config.Host, "/")+"/apis/"+infrav1.GroupVersion.String()+path, nil)
	if err != nil {
		stage.T.Fatal(err)
	}
	asked.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json")
	stage.Eventually("the API server has opened the storage of "+path, func() bool {
		answer, err := client.Do(asked)
		if err != nil {
			stage.T.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		raw, err := io.ReadAll(answer.Body)
		if answer.StatusCode == http.StatusTooManyRequests {
			return false
		}
		if err == nil {
			err = json.Unmarshal(raw, into)
		}
		if err != nil || answer.StatusCode != http.StatusOK {
			stage.T.Fatalf("GET %s: %s: %v", asked.URL.Path, answer.Status, err)
		}
		return true
	})
}
