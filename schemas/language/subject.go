package language

import (
	"path"
	"slices"
	"strings"
)

// Subject is a technology that rules are about and that a project has or has not:
// a database, a queue, a platform, a kind of model. What such a rule says is noise
// where nobody uses it.
type Subject struct {
	// Words are what texts call it and the things that are its alone, of one word
	// or several. A word counts in the plural, too.
	Words []string
	// Libraries are texts in a manifest that name a library for it.
	Libraries []string
	// Files are patterns of names, of files or folders, that are there where it is used.
	Files []string
}

// subjects are known by the name that rules give in their domain, or as their
// first tag.
var subjects = subjectTable(map[string][3]string{
	"airflow": {"airflow, dag, dagster, prefect", "airflow, dagster, prefect", "dags airflow.cfg"},
	"ci": {
		"ci, cd, ci/cd, pipeline, workflow, github action, gitlab, jenkins, circleci, buildkite, runner, release, deploy, deployment, publish",
		"", ".github .gitlab-ci.yml Jenkinsfile .circleci azure-pipelines.yml bitbucket-pipelines.yml .drone.yml .buildkite .woodpecker.yml",
	},
	"cloud": {
		"cloud, aws, s3, bucket, lambda, serverless, iam, rds, ec2, ecs, eks, gcp, gcs, azure, blob, presigned, object storage, object store, " +
			"security group, cloudfront, dynamodb, minio, r2, cloud run, fargate, route53",
		"aws-sdk, @aws-sdk, boto3, google-cloud, @google-cloud, azure-, @azure, software.amazon.awssdk, aws-cdk, minio",
		"serverless.yml serverless.yaml cdk.json samconfig.toml *.tf terraform cloudformation .ebextensions",
	},
	"cli": {
		"cli, command, subcommand, flag, tool, stdout, stderr, exit code, exit status, command line, progress bar, terminal, dry run, script, utility",
		"cobra, urfave/cli, alecthomas/kong, clap, argh, click, typer, commander, yargs, oclif, picocli, system.commandline, spectre.console, thor", "",
	},
	"compiler": {
		"compiler, interpreter, lexer, tokenizer, parser, grammar, ast, syntax tree, bytecode, codegen, optimizer, optimiser, transpiler, linter, type checker, evaluator, language server, " +
			"optimisation pass, optimization pass, constant folding",
		"inkwell, cranelift, llvm, lalrpop, pest, chumsky, antlr, tree-sitter, logos", "*.g4 *.lalrpop *.y grammar.js",
	},
	"dbt": {"dbt", "dbt-", "dbt_project.yml"},
	"desktop": {
		"desktop, electron, tauri, qt, gtk, wpf, winforms, avalonia, javafx, swing, window, tray, installer, auto update, notarize, drag and drop, undo, redo",
		"electron, tauri, pyqt, pyside, wxpython, fyne, wails, avalonia, usewpf, usewindowsforms, gtk, javafx, qt5, qt6", "tauri.conf.json electron-builder.yml electron-builder.json forge.config.js *.pro",
	},
	"docker": {
		"docker, dockerfile, container, containerize, containerise, image, compose, podman, docker compose", "",
		"Dockerfile Dockerfile.* *.dockerfile Containerfile docker-compose*.yml docker-compose*.yaml compose.yml compose.yaml .dockerignore",
	},
	"elasticsearch": {"elasticsearch, elastic, opensearch, kibana, lucene, solr, search index, search cluster", "elasticsearch, opensearch, searchkick, chewy, @elastic", "elasticsearch.yml"},
	"embedded": {
		"embedded, firmware, interrupt, isr, uart, i2c, spi, gpio, mcu, microcontroller, watchdog, rtos, freertos, zephyr, esp32, stm32, arduino, bootloader, modbus, dma, " +
			"sensor, board, over the air, ota, flash memory, can bus, bluetooth",
		"cortex-m, embedded-hal, embassy, esp-idf, esp32, stm32, arm-none-eabi, pico_sdk, rp2040", "platformio.ini sdkconfig sdkconfig.* west.yml prj.conf *.ioc *.ld *.ino",
	},
	"game": {
		"game, gameplay, player, enemy, enemies, sprite, unity, unreal, godot, bullet, level, npc, multiplayer, leaderboard, fps, frame rate, hitbox, tilemap, physics, animation",
		"bevy, macroquad, ggez, pygame, phaser, monogame, libgdx, raylib, sdl2, love2d, ebiten, pixi.js, three", "project.godot *.uproject ProjectSettings Assets",
	},
	"github-actions": {"github, action, workflow, ci, pipeline", "", ".github"},
	"gitlab":         {"gitlab, merge request", "", ".gitlab-ci.yml"},
	"graphql": {
		"graphql, resolver, mutation, apollo, gql, hasura, relay", "graphql, @apollo, strawberry, ariadne, gqlgen, hotchocolate, graphene",
		"*.graphql *.graphqls *.gql codegen.yml",
	},
	"grpc": {"grpc, protobuf, proto, .proto, protoc", "grpc, protobuf, @bufbuild, connectrpc, tonic", "*.proto buf.yaml buf.gen.yaml proto protos"},
	"kafka": {
		"kafka, kinesis, pulsar, redpanda, topic, event stream, consumer", "kafka, sarama, franz-go, redpanda, kinesis, pulsar",
		"",
	},
	"kubernetes": {
		"kubernetes, k8s, kubectl, helm, pod, namespace, ingress, configmap, statefulset, daemonset, cronjob, replica, replica count, hpa, eks, gke, " +
			"aks, openshift, argocd, probe, liveness, readiness, prestop, cluster, chart, kustomize, rollout, resource limit, node upgrade, non root, nonroot, autoscaler",
		"kubernetes, client-go, @kubernetes", "k8s kubernetes helm charts Chart.yaml kustomization.yaml kustomization.yml skaffold.yaml manifests deploy helmfile.yaml Tiltfile",
	},
	"llm": {
		"llm, gpt, chatgpt, claude, openai, anthropic, gemini, mistral, llama, ollama, langchain, language model, chatbot, bot, assistant, prompt, rag, embedding, " +
			"vector search, vector database, agent, mcp, ai, copilot, token limit, context window",
		"openai, anthropic, langchain, llama, ollama, @ai-sdk, google-generativeai, @google/genai, mistralai, cohere, transformers, litellm, semantic-kernel, spring-ai, dspy", "",
	},
	"ml": {
		"ml, model, train, training, dataset, drift, predict, prediction, classifier, classify, regression, neural, fine tune, finetune, epoch, loss, gpu, " +
			"machine learning, pytorch, torch, tensorflow, keras, sklearn, scikit, xgboost, hyperparameter, inference, confusion matrix, outlier, impute, churn, accuracy, forecast",
		"torch, scikit-learn, sklearn, tensorflow, keras, xgboost, lightgbm, transformers, jax, mlflow, catboost, statsmodels", "*.ipynb notebooks",
	},
	"mongodb": {"mongo, mongodb, mongoose, nosql, documentdb, document store, document database", "mongo, mongoose, motor, beanie, doctrine/mongodb", "mongod.conf"},
	"mysql":   {"mysql, mariadb, innodb, percona, aurora", "mysql, mariadb", "my.cnf"},
	"pandas":  {"pandas, dataframe, data frame, frame, polars, df, notebook, parquet", "pandas, polars, pyspark, modin", "*.ipynb"},
	"redis":   {"redis, valkey, keydb, memcached", "redis, lettuce, jedis, valkey, sidekiq, bullmq", "redis.conf"},
	"spark":   {"spark, pyspark, databricks, emr, glue job", "pyspark, spark", ""},
	"terraform": {
		"terraform, opentofu, tofu, tfstate, tfvars, tf, hcl, terragrunt, pulumi", "",
		"*.tf *.tf.json .terraform.lock.hcl terraform terragrunt.hcl",
	},
})

// namesakes are other names under which rules say the same subject.
var namesakes = map[string]string{
	"opensearch": "elasticsearch", "valkey": "redis", "mariadb": "mysql", "opentofu": "terraform", "helm": "kubernetes", "protobuf": "grpc",
	"machine-learning": "ml", "pytorch": "ml", "tensorflow": "ml", "pyspark": "spark", "s3": "cloud", "aws": "cloud", "serverless": "cloud",
	"polars": "pandas", "rag": "llm", "mongoose": "mongodb", "dockerfile": "docker", "gcp": "cloud", "azure": "cloud",
}

func subjectTable(rows map[string][3]string) map[string]Subject {
	table := make(map[string]Subject, len(rows))
	for name, row := range rows {
		table[name] = Subject{Words: listed(row[0]), Libraries: listed(row[1]), Files: strings.Fields(row[2])}
	}
	return table
}

func listed(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ", ")
}

// SubjectOf is the subject of a rule, by its first tag or its domain; "" is none
// that a project has or has not.
func SubjectOf(domain string, tags []string) string {
	names := []string{domain}
	if len(tags) > 0 {
		names = []string{tags[0], domain}
	}
	for _, name := range names {
		name = strings.ToLower(name)
		if other := namesakes[name]; other != "" {
			name = other
		}
		if _, found := subjects[name]; found {
			return name
		}
	}
	return ""
}

// NamesSubject says whether a text names a subject. Its words are those of the
// text in lower case, and text is them with one space between.
func NamesSubject(subject string, words map[string]bool, text string) bool {
	return slices.ContainsFunc(subjects[subject].Words, func(name string) bool {
		if strings.Contains(name, " ") {
			return strings.Contains(text, name)
		}
		return words[name] || words[name+"s"]
	})
}

// everywhere are technologies that rules take for granted, so that they are no subject.
const everywhere = " postgres postgresql sqlite rabbitmq nats nginx "

// Technology tells whether a word, in lower case, is what a language, a framework or
// a subject is called.
func Technology(word string) bool {
	return subjectWords[word] || Specific(word) || called[word] != "" || strings.Contains(everywhere, " "+word+" ")
}

var subjectWords = func() map[string]bool {
	words := map[string]bool{}
	for name, s := range subjects {
		words[name] = true
		for _, word := range s.Words {
			words[word] = true
		}
	}
	return words
}()

// Technologies are the words of a text, in lower case and with one space between,
// that a technology is called, in the plural, too.
func Technologies(text string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(text), func(word string) bool {
		return !Technology(word) && !Technology(strings.TrimSuffix(word, "s"))
	}), " ")
}

// SubjectsOfFile are those that a file or folder of such a name, without its
// path, tells.
func SubjectsOfFile(name string) []string { return subjectFiles.Of(name) }

var subjectFiles = func() Marks {
	files := map[string][]string{}
	for name, s := range subjects {
		files[name] = s.Files
	}
	return NewMarks(files)
}()

// Marks are names of files that tell something, found without trying each.
type Marks struct {
	exact    map[string][]string // by a name, or by "*" and an ending
	patterns map[string][]string // what else is a pattern of package path
}

// NewMarks indexes, by what they tell, names of files and patterns of them.
func NewMarks(told map[string][]string) Marks {
	m := Marks{map[string][]string{}, map[string][]string{}}
	for what, files := range told {
		for _, file := range files {
			into := m.exact
			if rest := strings.TrimPrefix(file, "*"); strings.Contains(rest, "*") || rest != file && path.Ext(rest) != rest {
				into = m.patterns
			}
			into[file] = append(into[file], what)
		}
	}
	return m
}

// Of is what a file of such a name, without its path, tells, sorted.
func (m Marks) Of(name string) []string {
	found := slices.Concat(m.exact[name], m.exact["*"+path.Ext(name)])
	for pattern, what := range m.patterns {
		if matches, err := path.Match(pattern, name); err == nil && matches {
			found = append(found, what...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// SubjectsInManifest are those whose libraries a manifest, in lower case, names.
func SubjectsInManifest(content string) []string {
	var found []string
	for name, s := range subjects {
		if slices.ContainsFunc(s.Libraries, func(library string) bool { return strings.Contains(content, library) }) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}
