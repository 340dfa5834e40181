package virtual

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
)

// unplanned are the packages, or tests of a package, whose stories are not compared with plans, with the reason.
var unplanned = map[string]string{
	"test/reliability":                                          "managers are killed and Azure is edited at every call, so that there are thousands of steps to plan",
	"test/tenancy":                                              "the test adds resources to the graphs of its controllers, which plans do not have",
	"test/integration/rates":                                    "Azure refuses or throttles requests in every story",
	"test/integration/drift TestObservedDrift":                  "each row takes five plans of clusters of all kinds; TestDriftIsRepairedReportedOrKept compares the rows, and test/virtual/observed managers that observe",
	"test/integration/rollout TestKilledAtEveryWrite":           "the story has up to a hundred steps or more, each of which would plan all VMs of the pool",
	"test/integration/rollout TestKilledDuringRollout":          "the story has up to a hundred steps or more, each of which would plan all VMs of the pool",
	"test/integration/rollout TestManyTemplates":                "the story has up to a hundred steps or more, each of which would plan all VMs of the pool",
	"test/integration/rollout TestTemplatesDuringRollout":       "the story has up to a hundred steps or more, each of which would plan all VMs of the pool",
	"test/integration/requests TestManyClusters":                "the story has up to hundreds of clusters or managers, and each step would plan all of them",
	"test/integration/requests TestManyWorkers":                 "the story has up to hundreds of clusters or managers, and each step would plan all of them",
	"test/integration/requests TestMassCreation":                "the story has up to hundreds of clusters or managers, and each step would plan all of them",
	"test/integration/requests TestTenantsShareBudgets":         "the story has up to hundreds of clusters or managers, and each step would plan all of them",
	"test/integration/requests TestNamespacesShareWorkers":      "the story has up to hundreds of clusters or managers, and each step would plan all of them",
	"test/integration/requests TestOverhead":                    "the story has up to hundreds of clusters or managers, and each step would plan all of them",
	"test/integration/requests TestTemplatesAreLeftAlone":       "only the controllers of templates run; plans have all controllers",
	"test/virtual/stopped TestSchedule":                         "a schedule changes the wanted power state at a time between the plan of a step and its writes",
	"test/virtual/alerts":                                       "Azure has a fault in most stories, and steps with faults are not compared",
	"test/integration/requests TestDocumentsKilledAtEveryWrite": "managers are killed at every write",
}

// Unplanned returns the list.
func Unplanned() map[string]string { return maps.Clone(unplanned) }

// FindUnplanned returns the entry of the list that a test in a folder of the repository has, or "".
func FindUnplanned(folder, test string) string {
	for each := range unplanned {
		of, name, some := strings.Cut(each, " ")
		if strings.HasSuffix("/"+folder, "/"+of) && (!some || strings.HasPrefix(test+"/", name+"/")) {
			return each
		}
	}
	return ""
}

// isPlanned reports whether the stories of a test of the package under test are compared with plans. Tests run in the folder of their package.
func isPlanned(test string) bool {
	folder, err := os.Getwd()
	return err != nil || FindUnplanned(filepath.ToSlash(folder), test) == ""
}
