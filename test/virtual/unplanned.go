package virtual

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
)

// unplanned are the packages, or tests of a package, whose stories are not compared with plans, with the reason.
var unplanned = map[string]string{
	"test/reliability":                                            "managers are killed and Azure is edited at every call, so that there are thousands of steps to plan",
	"test/integration/drift TestObservedDrift":                    "each row takes five plans of clusters of all kinds; TestDriftIsRepairedReportedOrKept compares the rows, and test/virtual/observed managers that observe",
	"test/integration/requests TestMassCreation":                  "the story has a hundred machines or more, and each step would plan all of them",
	"test/integration/requests TestNamespacesShareWorkers":        "the story has hundreds of clusters, and each step would plan all of them",
	"test/integration/rollout TestManyModels":                     "the manager brings VMs to the latest model only when it has read them again, and the next change of the test comes before; a plan reads them at once, so it has an upgrade that the manager no longer needs. TestManyModelsAtRest, which waits, is compared",
	"test/integration/rollout TestBootstrapDataOfVMsAddedInAzure": "the writes of the story are for new bootstrap data, which plans do not read",
	"test/integration/rollout TestAutoscalerAddsVMsOfManyModels":  "the writes of the story are for new bootstrap data, which plans do not read",
	"test/integration/requests TestTemplatesAreLeftAlone":         "only the controllers of templates run; plans have all controllers",
	"test/integration/contract TestWatchFilter":                   "the manager reconciles only objects with its label; plans have the objects of all managers",
	"test/virtual/fleet":                                          "the stories have dozens of clusters or more, and each step would plan all of them",
	"test/integration/requests TestTenantsShareBudgets":           "the test sends all writes itself, with the clients of a manager, and no object asks for them",
}

// Unplanned returns the list.
func Unplanned() map[string]string { return maps.Clone(unplanned) }

// FindUnplanned returns the entry of the list that a test in a folder of the repository has, or "".
func FindUnplanned(folder, test string) string { return findTest(unplanned, folder, test) }

// FindSampled returns the entry of the list of sampled tests that a test has, or "".
func FindSampled(folder, test string) string { return findTest(sampled, folder, test) }

// findTest returns the entry of a list of tests that has a test in a folder, or "".
func findTest(list map[string]string, folder, test string) string {
	for each := range list {
		of, name, some := strings.Cut(each, " ")
		if strings.HasSuffix("/"+folder, "/"+of) && (!some || strings.HasPrefix(test+"/", name+"/")) {
			return each
		}
	}
	return ""
}

// testFolder returns the folder of the package under test, in which tests run.
func testFolder() string {
	folder, _ := os.Getwd()
	return filepath.ToSlash(folder)
}
