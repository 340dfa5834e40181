package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/lab/timeline"
)

// virtualTest is the test that makes clusters in virtual time and leaves them alone. With -figures it writes the simulator's log and
// when its phases were.
const virtualTest, virtualPackage = "TestLeftAlone", "./test/integration/requests"

// Files that the test writes into the folder that -figures names.
const requestsFile, phasesFile = "requests.jsonl", "phases.json"

// virtualPhase is one phase of the test.
type virtualPhase struct {
	Name string    `json:"name"`
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// inVirtualTime runs a scenario with our controllers in virtual time.
func inVirtualTime(ctx context.Context, scenario Scenario, o Options) (Run, error) {
	if len(o.Commands) > 0 {
		return Run{}, fmt.Errorf("the scenario %s runs in virtual time, which has no processes: run the scenario %s with --steady, and give the program a shorter sync period",
			scenario.Name, strings.TrimSuffix(scenario.Name, "-hour"))
	}
	folder, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return Run{}, err
	}
	defer os.RemoveAll(folder)
	bounded, cancel := context.WithTimeoutCause(ctx, o.Timeout, fmt.Errorf("the time limit of %s is over", o.Timeout))
	defer cancel()
	run := Run{
		Scenario: scenario.Name, Provider: o.Name, Source: FromVirtualTime, Begun: time.Now().UTC(), Seed: virtualSeed, TimeScale: 1,
		Clusters: scenario.clusters, Machines: scenario.machines, Pools: scenario.pools, Processors: runtime.NumCPU(), LoadBefore: loadAverage(),
	}
	o.Report("%s: %s for %s in virtual time", scenario.Name, scenario.Size(), scenario.virtual)
	test := exec.CommandContext(bounded, "go", "test", virtualPackage, "-run", "^"+virtualTest+"$", "-count=1", "-timeout", "0", "-figures",
		folder,
		"-clusters", strconv.Itoa(scenario.clusters), "-machines", strconv.Itoa(scenario.machines), "-pools", strconv.Itoa(scenario.pools),
		"-nodes", strconv.Itoa(scenario.nodes), "-alone", scenario.virtual.String())
	test.Dir = o.Root
	// The test is a process of its own, which is ended with what started it.
	test.WaitDelay = 5 * time.Second
	if raw, err := test.CombinedOutput(); err != nil {
		if cause := context.Cause(bounded); cause != nil {
			err = cause
		}
		return run, fmt.Errorf("%s: %w\n%s", scenario.Name, err, strings.TrimSpace(string(raw)))
	}
	if run.Phases, err = readVirtual(folder); err != nil {
		return run, err
	}
	run.LoadAfter = loadAverage()
	return run, nil
}

// virtualSeed is the test's.
const virtualSeed = 7

func readVirtual(folder string) ([]Phase, error) {
	log, err := timeline.ReadLog(filepath.Join(folder, requestsFile))
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(filepath.Join(folder, phasesFile))
	if err != nil {
		return nil, err
	}
	var named []virtualPhase
	if err := json.Unmarshal(raw, &named); err != nil {
		return nil, err
	}
	if len(named) == 0 {
		return nil, errors.New("the test in virtual time has no phases")
	}
	var out []Phase
	for _, n := range named {
		during := span{from: n.From, to: n.To}
		out = append(out, Phase{Name: n.Name, Begun: n.From, Ended: n.To, WallSeconds: n.To.Sub(n.From).Seconds(),
			Azure: countRequests(log, during), Requests: countPerMoment(log, during)})
	}
	return out, nil
}
