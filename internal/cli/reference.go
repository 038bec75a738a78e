package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"dlock/dsl"
	"dlock/internal/report"
)

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "explain [CODE]",
		Short:   "Explain a diagnostic; without a code, list them all",
		Example: "  dlock explain D012",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return codes(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				for _, p := range dsl.Codes() {
					a.printf("%s  %s\n", p.Code, p.Title)
				}
				return nil
			}
			code := strings.ToUpper(args[0])
			page, found := dsl.CodePageOf(code)
			if !found {
				hint := "`dlock explain` lists them all"
				if n := dsl.Nearest(code, codes()); n != "" {
					hint = "did you mean " + n + "?"
				}
				return fmt.Errorf("there is no code %q; %s", args[0], hint)
			}
			return report.Explain(a.buffered, page, a.options(false))
		},
	}
}

func codes() []string {
	var all []string
	for _, p := range dsl.Codes() {
		all = append(all, p.Code)
	}
	return all
}

func (a *app) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "list [FILE…]",
		Short:             "List scripts with what each is about",
		Long:              "List scripts with their titles and runs. Without a file it lists the folder scenarios, or this folder.",
		Example:           "  dlock list scenarios",
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = defaultDir()
			}
			found, err := a.someInputs(args)
			if err != nil {
				return err
			}
			var scripts []*dsl.Script
			for _, in := range found {
				if s := a.script(in.name); s != nil {
					scripts = append(scripts, s.script)
				}
				if err := cmd.Context().Err(); err != nil {
					return err
				}
			}
			return report.List(a.buffered, scripts, a.options(false))
		},
	}
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			version := "(devel)"
			if info, found := debug.ReadBuildInfo(); found && info.Main.Version != "" {
				version = info.Main.Version
			}
			a.printf("dlock %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}
