// Prints, for each minute of a time range, how many results an alert's expression has over series that a test gives.
//
// usage: rules EXPR START END < SERIES, with START and END in minutes and SERIES a JSON list of objects with `labels`
// (with the name as `__name__`) and `values`, one a minute. The output is a JSON list with a number for each minute.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

type given struct {
	Labels map[string]string `json:"labels"`
	Values []float64         `json:"values"`
}

type sample struct {
	ms    int64
	value float64
}

func (s sample) ST() int64                     { return 0 }
func (s sample) T() int64                      { return s.ms }
func (s sample) F() float64                    { return s.value }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }

func main() {
	var series []given
	check(json.NewDecoder(os.Stdin).Decode(&series))
	start, err := strconv.Atoi(os.Args[2])
	check(err)
	end, err := strconv.Atoi(os.Args[3])
	check(err)
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1 << 20, Timeout: time.Minute})
	counts := []int{}
	for minute := start; minute <= end; minute++ {
		query, err := engine.NewInstantQuery(
			context.Background(), holding(series), nil, os.Args[1], time.Unix(int64(minute)*60, 0))
		check(err)
		result := query.Exec(context.Background())
		check(result.Err)
		vector, err := result.Vector()
		check(err)
		counts = append(counts, len(vector))
	}
	check(json.NewEncoder(os.Stdout).Encode(counts))
}

type set struct {
	at   storage.Series
	rest []storage.Series
}

func (s *set) At() storage.Series                { return s.at }
func (s *set) Err() error                        { return nil }
func (s *set) Warnings() annotations.Annotations { return nil }
func (s *set) Next() bool {
	if len(s.rest) == 0 {
		return false
	}
	s.at, s.rest = s.rest[0], s.rest[1:]
	return true
}

func holding(series []given) storage.Queryable {
	return &storage.MockQueryable{MockQuerier: &storage.MockQuerier{
		SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
			found := &set{}
			for _, each := range series {
				if matches(each, matchers) {
					found.rest = append(found.rest, storage.NewListSeries(labels.FromMap(each.Labels), samples(each)))
				}
			}
			return found
		},
	}}
}

func matches(series given, matchers []*labels.Matcher) bool {
	for _, matcher := range matchers {
		if !matcher.Matches(series.Labels[matcher.Name]) {
			return false
		}
	}
	return true
}

func samples(series given) []chunks.Sample {
	list := make([]chunks.Sample, len(series.Values))
	for minute, value := range series.Values {
		list[minute] = sample{int64(minute) * 60_000, value}
	}
	return list
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
