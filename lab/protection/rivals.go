package protection

// A Rival is another system's published result. It was measured with other models and runs, so it
// has another sign in the chart.
type Rival struct {
	Name    string
	On      string  // agentdojo or agentdyn; empty if it is not in the chart
	Passed  float64 // attacks that still succeed, in percent of all attacks
	Asks    float64 // questions per task; 0 for systems that do not ask
	AtLeast bool    // Asks is the share of tasks with a question, which is a lower bound
	Figures string  // as published
	Differs string  // how it differs from our measurement
	Source  string
}

// Rivals returns the published results of other systems, in the order of the table.
func Rivals() []Rival { return append(dojoRivals(), dynRivals()...) }

func dojoRivals() []Rival {
	return []Rival{
		{
			Name: "CaMeL, normal", On: "agentdojo", Passed: 1.16, Asks: 0.339, AtLeast: true,
			Figures: "policy triggers on 33.9 % of useful benign tasks; 11 of 949 attacks with the worst of four models, 0 with the best",
			Differs: "share of tasks with a trigger, not questions; utility falls from 84.5 to 77.3 % (o3) or from 86.6 to 74.2 % (Claude 4 Sonnet)",
			Source:  "analysis.ipynb in google-research/camel-prompt-injection, f083b6b",
		},
		{
			Name: "CaMeL, strict", On: "agentdojo", Passed: 1.16, Asks: 0.532, AtLeast: true,
			Figures: "policy triggers on 53.2 % of useful benign tasks", Differs: "as above",
			Source: "the same notebook",
		},
		{
			Name: "FIDES", On: "", Figures: "1 of 949 attacks; 50.1 % of all tasks finished without a question (o3-mini)",
			Differs: "absolute share of finished tasks, no questions per task; policies cost up to 24.5 points of utility",
			Source:  "secondary: notes on arXiv 2505.23643 and 2602.11416",
		},
		{
			Name: "PRUDENTIA", On: "", Figures: "59.1 % of all tasks finished without a question (o3-mini); human load 36.8 to 19.2 (o4-mini)",
			Differs: "absolute share of finished tasks; its load is not per task", Source: "secondary: notes on arXiv 2602.11416",
		},
		{
			Name: "Progent", On: "agentdojo", Passed: 2.2,
			Figures: "attack success 41.2 to 2.2 % (policies written by a model); 0 % with policies written by hand",
			Differs: "blocks, asks nobody", Source: "arXiv 2504.11703, abstracts of v1 and v2",
		},
		{
			Name: "DRIFT", On: "agentdojo", Passed: 1.3, Figures: "attack success 30.7 to 1.3 %",
			Differs: "blocks, asks nobody; a model judges", Source: "secondary: notes on arXiv 2506.12104",
		},
		{
			Name: "PACT", On: "agentdojo", Passed: 0, Figures: "no attack on the 3 strongest models, at 38.1 to 46.4 % utility",
			Differs: "blocks, asks nobody", Source: "arXiv 2605.11039, abstract",
		},
		{
			Name: "AuthGraph", On: "agentdojo", Passed: 1, Figures: "attack success 40 to 1 % at 76 % completion (GPT-4o)",
			Differs: "blocks, asks nobody", Source: "arXiv 2605.26497, abstract",
		},
		{
			Name: "RTBAS", On: "", Figures: "all targeted attacks stopped, 2 % utility loss under attack",
			Differs: "asks, but how often is not published", Source: "arXiv 2502.08966, abstract",
		},
	}
}

// dynRivals returns the results on the harder benchmark. A star marks runs that were recorded by
// the benchmark's authors.
func dynRivals() []Rival {
	return []Rival{
		{
			Name: "AuthGraph", On: "agentdyn", Passed: 2, Figures: "attack success 39 to 2 % at 51 % utility",
			Differs: "blocks, asks nobody", Source: "arXiv 2605.26497, abstract",
		},
		{
			Name: "ROPE", On: "agentdyn", Passed: 2.6, Figures: "attack success 1.6 to 2.6 %, at 82 to 100 % of the undefended utility",
			Differs: "asks nobody; one model call per task", Source: "secondary: survey note on arXiv 2608.27496",
		},
		{
			Name: "Progent*", On: "agentdyn", Passed: 1.8, Figures: "attack success 38.9 to 1.8 %, utility 53.3 to 6.7 % (gpt-4o)",
			Differs: "blocks, asks nobody", Source: "AgentDyn's own runs",
		},
		{
			Name: "DRIFT*", On: "agentdyn", Passed: 0.9, Figures: "attack success 38.9 to 0.9 %, utility 53.3 to 30.0 % (gpt-4o)",
			Differs: "blocks, asks nobody", Source: "AgentDyn's own runs",
		},
		{
			Name: "PromptGuard 2*", On: "agentdyn", Passed: 28.4, Figures: "attack success 38.9 to 28.4 %, utility 53.3 to 60.0 % (gpt-4o)",
			Differs: "blocks, asks nobody", Source: "AgentDyn's own runs",
		},
	}
}
