// Command shop runs one step in the life of an account of all six kinds, inline through Pulumi's Automation
// API, in the stack "prod" of the project in the current folder: `shop up`. DESCRIPTION is that of every resource.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
	// The test puts the generated package's own path here.
	conversation "generated.example/sdk/go/conversation"
)

func account(ctx *pulumi.Context) error {
	description := pulumi.String(os.Getenv("DESCRIPTION"))
	callbacks, err := conversation.NewAuthentication(ctx, "callbacks", &conversation.AuthenticationArgs{
		Description: description,
		BasicAuth: &conversation.AuthenticationBasicAuthArgs{
			Username: pulumi.String("hub"),
			Password: config.RequireSecret(ctx, "callbackPassword"),
		},
	})
	if err != nil {
		return err
	}
	role := func(name conversation.ClientApplicationRoleName) conversation.ClientApplicationRoleInput {
		return &conversation.ClientApplicationRoleArgs{
			Name:              name,
			Version:           conversation.ClientApplicationRoleVersionV3,
			Callback:          pulumi.String("https://bot.example.com/hub"),
			NotificationEmail: pulumi.String("ops@example.com"),
			Authentication:    callbacks.ID(),
		}
	}
	application, err := conversation.NewClientApplication(ctx, "application", &conversation.ClientApplicationArgs{
		Description: description,
		Roles: conversation.ClientApplicationRoleArray{
			role(conversation.ClientApplicationRoleNameCustomBot), role(conversation.ClientApplicationRoleNameCustomer),
		},
	})
	if err != nil {
		return err
	}
	orders, err := conversation.NewParticipant(ctx, "orders", &conversation.ParticipantArgs{
		Description: description, Type: conversation.ParticipantTypeCustomBot, Application: application.ID(),
	})
	if err != nil {
		return err
	}
	kiosk, err := conversation.NewChannel(ctx, "kiosk", &conversation.ChannelArgs{
		Adopt:       pulumi.StringRef("true"),
		Description: description,
		Type:        pulumi.String("custom.kiosk"),
		DisplayName: pulumi.String("Kiosk"),
		Icon:        pulumi.String("aVZCT1J3MEtHZ28="),
	})
	if err != nil {
		return err
	}
	flow, err := conversation.NewOrchestration(ctx, "flow", &conversation.OrchestrationArgs{
		Description: description,
		Applications: &conversation.OrchestrationApplicationsArgs{
			BotConfiguration: &conversation.OrchestrationBotConfigurationArgs{
				Bots: conversation.OrchestrationBotArray{
					&conversation.OrchestrationBotArgs{
						Application: application.ID(), Participant: orders.ID(),
					},
				},
			},
			CustomerConfiguration: &conversation.OrchestrationCustomerConfigurationArgs{Customer: application.ID()},
		},
	})
	if err != nil {
		return err
	}
	_, err = conversation.NewAccount(ctx, "shop", &conversation.AccountArgs{
		Description: description,
		Address:     pulumi.String("shop-web"),
		Channel:     kiosk.ID(),
		ChatConfigurations: &conversation.AccountChatConfigurationsArgs{
			Orchestration: flow.ID(), EntryPoint: pulumi.String("1007"), Timeout: pulumi.Int(30),
		},
	})
	return err
}

// What Pulumi printed about one step.
func run(ctx context.Context, step string) (string, error) {
	stack, err := auto.UpsertStackInlineSource(ctx, "prod", "shop", account, auto.WorkDir("."))
	if err != nil {
		return "", err
	}
	switch step {
	case "up":
		result, err := stack.Up(ctx)
		return result.StdOut, err
	case "refresh":
		result, err := stack.Refresh(ctx)
		return result.StdOut, err
	case "destroy":
		result, err := stack.Destroy(ctx)
		return result.StdOut, err
	default:
		return "", fmt.Errorf("no step %q", step)
	}
}

func main() {
	printed, err := run(context.Background(), os.Args[1])
	fmt.Print(printed)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
