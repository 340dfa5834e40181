package reliability_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// An outcome is the result of an edit.
type outcome string

const (
	// repaired: everything is as it was, and no condition reports the edit any more.
	repaired outcome = "repaired"
	// reported: a condition names the resource, and nothing is written.
	reported outcome = "reported"
	// kept: the edit stays, and no condition reports it.
	kept outcome = "kept"
	// left: nothing is written, whatever conditions report.
	left outcome = "left"
	// remade: the resources exist again except for machines, which conditions name.
	remade outcome = "remade, machines reported"
)

// An expectation is the required outcome of an edit.
type expectation struct {
	reason string
	outcome
}

// usually are the outcomes of edits of resources that the provider created, for all types.
var usually = map[edit]expectation{
	foreignTag:   {"others' tags are theirs", kept},
	changedTag:   {"our tags are kept in line", repaired},
	ownershipTag: {"the tag of the owner proves whose it is", repaired},
	allTags:      {"it was made for the cluster, and is in a group of the cluster's", repaired},
	property:     {"values of the spec are repaired", repaired},
	deletion:     {"resources of the spec are created", repaired},
}

// unusually is what becomes of an edit of a type where that is something else.
var unusually = map[string]expectation{
	types.ResourceGroup + ": " + string(allTags):    {"nothing but its tags proves whose a group is", reported},
	types.ResourceGroup + ": " + string(deletion):   {"machines are not made again: a MachineHealthCheck or a person replaces them", remade},
	types.PublicIPAddress + ": " + string(property): {"it is made once", reported},
	types.VirtualMachine + ": " + string(property):  {"it is made once", reported},
	types.VirtualMachine + ": " + string(deletion):  {"it is not made again: a MachineHealthCheck or a person replaces the Machine", reported},
	scaleSetVM + ": " + string(changedTag):          {"its scale set tells whose it is", kept},
	scaleSetVM + ": " + string(ownershipTag):        {"as above", kept},
	scaleSetVM + ": " + string(allTags):             {"as above", kept},
}

// repeated is how often the same write may be sent for an edit of a type, where that is more than once.
var repeated = map[string]int{
	types.ManagedCluster + ": " + string(allTags): 2,
	// The tags of the owner come first, because the plan of a cluster without them has no others.
}

// comesLater is what comes back with a later write only, by type and edit: a text in the lines about it.
var comesLater = map[string]string{
	types.ScaleSet + ": " + string(allTags): infrav1.CustomDataHashTag,
	// It tells which bootstrap data the model has, and is written with the next VM's.
}

// scaleSetVM is the type of a VM of a scale set.
const scaleSetVM = types.ScaleSet + "/virtualMachines"

// expectedOutcome returns the required outcome of an edit of a resource.
func expectedOutcome(story, short, resourceType string, e edit) expectation {
	if strings.Contains(short, "/MC_") {
		return expectation{"what AKS makes is AKS's business", left}
	}
	if resourceType == types.Disk && strings.Contains(short, "_OsDisk_") {
		resourceType = scaleSetVM // It is made and goes with that.
	}
	if e == deletion && resourceType == types.ResourceGroup && !slices.Contains([]string{"default", "private"}, story) {
		return usually[e] // Pools and AKS make machines again.
	}
	if want, is := unusually[resourceType+": "+string(e)]; is {
		return want
	}
	return usually[e]
}

// lives are the types of what goes with a machine, and is not made again.
var lives = []string{types.VirtualMachine, types.Disk, types.NetworkInterface, types.InboundNATRule}

// A moment is how everything is.
type moment struct {
	virtual.State
	resources map[string]int
	wrong     []string
}

func (w *world) takeMoment() moment {
	w.T.Helper()
	out := moment{State: w.ReadState(), resources: map[string]int{}, wrong: strings.Split(w.wrongConditions(), "\n")}
	out.wrong = slices.DeleteFunc(out.wrong, func(line string) bool { return strings.HasSuffix(line, "NotPaused: ") })
	// Another check covers others' tags: AKS gives them to the resources that it creates.
	maps.DeleteFunc(out.State, func(line string, _ int) bool {
		return strings.Contains(line, ".tags."+theirs+": ") || strings.Contains(line, "eneration: ")
	})
	for _, short := range w.editableResources() {
		if !strings.HasSuffix(short, "/"+bystander) {
			out.resources[numbered.ReplaceAllString(virtual.MaskRandomText(short), "#")]++
		}
	}
	return out
}

// numbered is the part of a name that differs if a new VM replaces one of a scale set.
var numbered = regexp.MustCompile(`(virtualMachines/|_)[0-9]+`)

// azureState returns what of it is in Azure.
func (m moment) azureState() virtual.State {
	out := maps.Clone(m.State)
	maps.DeleteFunc(out, func(line string, _ int) bool { return strings.HasPrefix(line, "*") })
	return out
}

// newMessages returns the messages of conditions that are new since before, about a resource or its parent. id ""
// selects messages about any resource, and so do resources that AKS creates, whose names the provider does not know.
func (m moment) newMessages(before moment, id arm.ID) (out []string) {
	name := ""
	if id != "" && !strings.Contains(string(id), "/MC_") {
		name = id.Name()
	}
	for _, line := range m.wrong {
		if line != "" && !slices.Contains(before.wrong, line) && strings.Contains(line, name) {
			out = append(out, line)
		}
	}
	return out
}

// missingResources returns the resources that existed before.
func (m moment) missingResources(before moment) (out []string) {
	for short, often := range before.resources {
		if m.resources[short] < often {
			out = append(out, short)
		}
	}
	return out
}

// editResult is the result of an edit.
type editResult struct {
	outcome
	writes map[string]int
	words  []string
	// differs are the differences from the state before the edit.
	differs []string
}

// judgeEdit returns the outcome of an edit of a resource, from the states before and right after it and the writes
// since then.
func (w *world) judgeEdit(short string, e edit, before, edited moment, writes map[string]int) editResult {
	w.T.Helper()
	now := w.takeMoment()
	v := editResult{writes: writes, words: now.newMessages(before, w.expandID(short)), differs: before.ListDifferences(now.State)}
	if text := comesLater[w.expandID(short).Type()+": "+string(e)]; text != "" {
		v.differs = slices.DeleteFunc(v.differs, func(line string) bool {
			return strings.Contains(line, text) || strings.Contains(line, infrav1.AppliedAnnotation)
		})
	}
	missing, more := now.missingResources(before), now.newMessages(before, "")
	stays := len(edited.azureState().ListDifferences(now.azureState())) == 0
	machines := func(short string) bool { return slices.Contains(lives, w.expandID(short).Type()) }
	switch {
	case stays && len(writes) == 0 && len(v.words) > 0:
		v.outcome = reported
	case stays && len(writes) == 0:
		v.outcome = kept
	case len(writes) > 0 && len(more) == 0 && (len(v.differs) == 0 || e == deletion && len(missing) == 0):
		v.outcome = repaired
	case len(writes) > 0 && e == deletion && len(v.words) > 0 &&
		!slices.ContainsFunc(missing, func(short string) bool { return !machines(short) }):
		v.outcome = remade
	default:
		v.outcome = "neither as it was nor as it was made"
		if v.words = more; e == deletion {
			v.differs = missing
		}
	}
	return v
}

// meetsExpectation reports whether an outcome is as it is expected.
func (v editResult) meetsExpectation(want expectation) bool {
	return v.outcome == want.outcome || want.outcome == left && len(v.writes) == 0
}

func (v editResult) String() string {
	var out []string
	for _, write := range slices.Sorted(maps.Keys(v.writes)) {
		out = append(out, fmt.Sprintf("%d of %s", v.writes[write], write))
	}
	differs := v.differs
	if v.outcome == repaired || v.outcome == reported || v.outcome == kept {
		differs = nil
	}
	if len(differs) > 12 {
		differs = append(slices.Clone(differs[:12]), fmt.Sprintf("and %d more", len(v.differs)-12))
	}
	return strings.Join(slices.Concat([]string{string(v.outcome)}, out, v.words, differs), "\n\t")
}
