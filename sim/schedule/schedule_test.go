package schedule

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const group = "/subscriptions/s/resourceGroups/demo"

var begin = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func atSecond(seconds float64) time.Time {
	return begin.Add(time.Duration(seconds * float64(time.Second)))
}

func newPut(seconds float64, id string, ms int64, operation string) Request {
	return Request{Time: atSecond(seconds), Method: "PUT", URL: id + "?api-version=1", Status: 201, DurationMs: ms, OperationID: operation}
}

// newSample returns a group, then a network and an address side by side, then a gateway that needs the address, then a subnet
// that needs the network and the gateway, and a machine that is being made.
func newSample() []*Write {
	network, address := group+"/providers/Microsoft.Network/virtualNetworks/v", group+"/providers/Microsoft.Network/publicIPAddresses/p"
	gateway, subnet := group+"/providers/Microsoft.Network/natGateways/g", network+"/subnets/n"
	state := []any{
		map[string]any{"id": group},
		map[string]any{"id": network, "properties": map[string]any{"subnets": []any{map[string]any{"id": subnet, "name": "n"}}}},
		map[string]any{"id": address, "properties": map[string]any{"natGateway": map[string]any{"id": gateway}}},
		map[string]any{"id": gateway, "properties": map[string]any{
			"publicIpAddresses": []any{map[string]any{"id": strings.ToUpper(address)}},
			"subnets":           []any{map[string]any{"id": subnet}},
		}},
		map[string]any{"id": subnet, "properties": map[string]any{"natGateway": map[string]any{"id": gateway}}},
	}
	requests := []Request{
		newPut(0.5, group, 500, ""),
		newPut(1, network, 10, "op-v"), // until 3
		newPut(1, address, 10, "op-p"), // until 2
		{Time: atSecond(1.5), Method: "GET", URL: network, Status: 200},
		newPut(2, gateway, 10, "op-g"), // until 5
		newPut(5, subnet, 10, "op-n"),  // until 6
		newPut(5, group+"/providers/Microsoft.Network/refused/r", 10, ""),
		newPut(6, group+"/providers/Microsoft.Compute/virtualMachines/<m>", 10, "op-m"),
		{Time: atSecond(9), Method: "POST",
			URL: group + "/providers/Microsoft.ContainerService/managedClusters/m/listClusterAdminCredential?api-version=1", Status: 200},
	}
	requests[6].Status = 409
	operations := []Operation{
		{ID: "op-v", Ended: atSecond(3), Status: "Succeeded"}, {ID: "op-p", Ended: atSecond(2), Status: "Succeeded"},
		{ID: "op-g", Ended: atSecond(5), Status: "Succeeded"}, {ID: "op-n", Ended: atSecond(6), Status: "Failed"}, {ID: "op-m",
			Status: "InProgress"},
	}
	return BuildSchedule(requests, operations, FindReferences(state))
}

func TestOf(t *testing.T) {
	got := map[string]string{}
	for _, w := range newSample() {
		after := "nothing"
		if w.After != nil {
			after = ShortenID(w.After.ID)
		}
		got[ShortenID(w.ID)] = w.Status + " after " + after
	}
	want := map[string]string{
		"resourceGroups/demo":         "201 after nothing",
		"virtualnetworks/v":           "Succeeded after resourceGroups/demo",
		"publicipaddresses/p":         "Succeeded after resourceGroups/demo",
		"natgateways/g":               "Succeeded after publicipaddresses/p",
		"virtualnetworks/v/subnets/n": "Failed after natgateways/g",
		"virtualmachines/<m>":         "InProgress after resourceGroups/demo",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what writes waited for (-want +got):\n%s", diff)
	}
}

func TestCriticalPath(t *testing.T) {
	path, sum := CriticalPath(newSample())
	var names []string
	for _, w := range path {
		names = append(names, ShortenID(w.ID))
	}
	want := []string{"resourceGroups/demo", "publicipaddresses/p", "natgateways/g", "virtualnetworks/v/subnets/n"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("critical path (-want +got):\n%s", diff)
	}
	if want := 5500 * time.Millisecond; sum != want {
		t.Errorf("critical path takes %v, want %v", sum, want)
	}
}

// TestSVG reads the drawing as XML: a bar for each write, as long as it took on the axis, and of its own color.
func TestSVG(t *testing.T) {
	writes := newSample()
	path, _ := CriticalPath(writes)
	var out bytes.Buffer
	if err := DrawSVG(&out, writes, path, begin, atSecond(10), nil); err != nil {
		t.Fatal(err)
	}
	var bars, texts, gaps, waits []string
	decoder, inText := xml.NewDecoder(&out), ""
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("the drawing is no XML: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			a := map[string]string{}
			for _, attribute := range token.Attr {
				a[attribute.Name.Local] = attribute.Value
			}
			if token.Name.Local == "line" && a["class"] == "gap" {
				gaps = append(gaps, a["x1"]+" to "+a["x2"])
			}
			if token.Name.Local == "rect" {
				bars = append(bars, a["class"]+" "+a["x"]+"+"+a["width"])
			}
			if inText = ""; token.Name.Local == "text" {
				inText = a["class"]
			}
		case xml.CharData:
			switch inText {
			case "name":
				texts = append(texts, string(token))
			case "wait":
				waits = append(waits, string(token))
			}
		case xml.EndElement:
			inText = ""
		}
	}
	// Ten seconds are 700 wide, from 220 on: the longest name has 31 letters of 6.6.
	wantBars := []string{"critical 255+35", "write 290+140", "critical 290+70", "critical 360+210", "failed 570+70", "running 640+280"}
	if diff := cmp.Diff(wantBars, bars); diff != "" {
		t.Errorf("bars (-want +got):\n%s", diff)
	}
	wantTexts := []string{"PUT resourceGroups/demo", "PUT virtualnetworks/v", "PUT publicipaddresses/p", "PUT natgateways/g",
		"PUT virtualnetworks/v/subnets/n", "PUT virtualmachines/<m>"}
	if diff := cmp.Diff(wantTexts, texts); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"290 to 640"}, gaps); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"5.0 s: after resourceGroups/demo"}, waits); diff != "" {
		t.Errorf("names of waits (-want +got):\n%s", diff)
	}
}
