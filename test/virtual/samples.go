package virtual

import (
	"maps"
	"strings"
	"sync"
)

// sampled are the packages, or tests of a package, of which only a sample of the steps is compared with plans, with the reason.
var sampled = map[string]string{
	"test/integration/rates":                              "the stories have up to dozens of clusters, and Azure refuses up to hundreds of requests",
	"test/integration/requests TestOverhead":              "the same clusters are made dozens of times",
	"test/integration/rollout TestKilledAtEveryWrite":     "the story has up to a hundred steps or more",
	"test/integration/rollout TestKilledDuringRollout":    "the story has up to a hundred steps or more",
	"test/integration/rollout TestManyTemplates":          "the story has up to a hundred steps or more",
	"test/integration/rollout TestTemplatesDuringRollout": "the story has up to a hundred steps or more",
	"test/tenancy":        "there are hundreds of short stories",
	"test/virtual/alerts": "the stories change something each minute for hours",
}

// Sampled returns the list.
func Sampled() map[string]string { return maps.Clone(sampled) }

// The first steps of a sampled test are planned until their plans total firstObjects objects; after that every eachPlanned-th step. A step
// with more than mostObjects objects is not planned.
const (
	firstObjects = 150
	eachPlanned  = 20
	mostObjects  = 120
)

// samples count the steps of sampled tests, and the objects of their plans.
var samples = struct {
	sync.Mutex
	steps, objects map[string]int64
}{steps: map[string]int64{}, objects: map[string]int64{}}

// isTooLarge reports whether there are too many objects for a plan.
func (p *plans) isTooLarge() bool {
	return p.sampled && p.scenario.Kubernetes.objects.Load() > mostObjects
}

// isSampled reports whether the next step is planned.
func (p *plans) isSampled() bool {
	if !p.sampled {
		return true
	}
	if p.isTooLarge() {
		return false
	}
	test, _, _ := strings.Cut(p.test, "/")
	samples.Lock()
	defer samples.Unlock()
	samples.steps[test]++
	if samples.objects[test] >= firstObjects && samples.steps[test]%eachPlanned != 0 {
		return false
	}
	samples.objects[test] += p.scenario.Kubernetes.objects.Load()
	return true
}
