package reliability_test

import (
	"go/parser"
	"go/token"
	"net/http"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// plantedStory is a life with a planted fault: a test-only observer takes each PUT of a network that Azure answers for another network, so it fails
// when the provider has to send the PUT again.
const plantedStory = "planted"

func plantedStages() []stage {
	return []stage{{"planted", func(w *world) {
		networks := 0
		w.Written = func(request *http.Request) {
			if request.Method == http.MethodPut && strings.HasSuffix(request.URL.Path, "/virtualNetworks/c1-vnet") {
				if networks++; networks > 1 {
					w.T.Error("the planted observer found another network")
				}
			}
		}
		networkStage(nil).play(w)
	}}}
}

// TestPlantedFaultIsReduced lets one decision among others cause the planted fault; it expects that the reduction finds it, and writes a
// test file that runs.
func TestPlantedFaultIsReduced(t *testing.T) {
	const network = "PUT resourceGroups/c1/providers/Microsoft.Network/virtualNetworks/c1-vnet"
	guilty := virtual.Decision{Of: network, Nth: 1, Disturbance: virtual.ServerError}
	decisions := []virtual.Decision{
		{Of: "event of *v1beta1.AzureCluster c1", Nth: 2, Delay: 3 * time.Second},
		{Of: "GET resourceGroups/c1", Nth: 1, Disturbance: virtual.AnswerLost},
		{Of: "PUT resourceGroups/c1", Nth: 1, Delay: time.Second, Disturbance: virtual.AnswerLost},
		guilty,
		{Of: "reconcile azurecluster c1", Nth: 5, Delay: time.Second},
		{Of: "patch status *v1beta1.AzureCluster c1", Nth: 2, Disturbance: virtual.Conflict},
	}
	fails := func(some []virtual.Decision) bool { return failsAgain(t, life{plantedStory, some}) }
	if !fails(decisions) {
		t.Fatal("the planted fault was not found")
	}
	reduced := virtual.Minimize(decisions, fails)
	if len(reduced) != 1 || reduced[0] != guilty {
		t.Errorf("the reduction left %v, want %v only", reduced, guilty)
	}
	source := newTestFile(plantedStory, 7, reduced)
	if _, err := parser.ParseFile(token.NewFileSet(), "found_test.go", source, parser.AllErrors); err != nil {
		t.Errorf("the test file is no Go: %v\n%s", err, source)
	}
	if want := `virtual.Decision{Of: "` + network + `", Nth: 1, Disturbance: "server error"}`; !strings.Contains(source, want) {
		t.Errorf("the test file does not have the decision:\n%s", source)
	}
}

// TestEveryStoryHasTestFile checks that the generated test file is Go for the name of every story, which can have spaces and commas.
func TestEveryStoryHasTestFile(t *testing.T) {
	for name := range hurriedStories() {
		story := name + inHurry + "7"
		source := newTestFile(story, 7, []virtual.Decision{{Of: "reconcile azurecluster c1", Nth: 1, Delay: time.Second}})
		if _, err := parser.ParseFile(token.NewFileSet(), "found_test.go", source, parser.AllErrors); err != nil {
			t.Errorf("the test file of %q is no Go: %v", story, err)
		}
	}
}
