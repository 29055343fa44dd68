import { Option, Command as Program } from 'commander'
import { isFault } from '#lib/fault'
import type { LogFormat } from '#lib/log'
import type { Command, Io } from './command.ts'
import { packageVersion } from './commands/version.ts'
import { commands } from './commands.ts'
import { cliFault } from './faults.ts'
import { flagGroups } from './flagSpec.ts'
import { type FlagName, flags, type RawFlags, wordOf } from './flags.ts'
import { fatalLine } from './output.ts'
import { readFlags } from './readFlags.ts'

/** Makes commander's option of a flag. A flag whose feature is missing is parsed, so that it can be refused by name, and hidden in the help. */
function optionOf(name: FlagName): Option {
  const { placeholder, doc, env, group, unsupported } = flags[name]
  const fallback = 'fallbackText' in flags[name] ? `, default ${flags[name].fallbackText}` : ''
  const word = wordOf(name)
  const option = new Option(placeholder === undefined ? `--${word}` : `--${word} <${placeholder}>`, `${doc} (${env}${fallback})`)
  return option.helpGroup(`${group}:`).hideHelp(unsupported)
}

function addCommand(program: Program, command: Command, io: Io, done: (code: number) => void): void {
  const sub = program.command(command.name).description(command.doc).allowExcessArguments(false)
  for (const inner of command.commands ?? []) addCommand(sub, inner, io, done)
  // a flag after the name of a subcommand belongs to the subcommand, even if both commands have a flag of that name
  if (command.commands) sub.enablePositionalOptions()
  if (command.argument) sub.argument(`<${command.argument.name}>`, command.argument.doc)
  for (const group of flagGroups) for (const name of command.flags) if (flags[name].group === group) sub.addOption(optionOf(name))
  sub.action(async (...given: unknown[]) => {
    const argument = command.argument ? String(given[0]) : ''
    done(await command.run(io, optionsByName(sub, command), argument))
  })
}

function optionsByName(sub: Program, command: Command): RawFlags {
  const values: Record<string, string | boolean | undefined> = {}
  for (const name of command.flags) {
    const attribute = sub.options.find((option) => option.long === `--${wordOf(name)}`)?.attributeName()
    values[name] = attribute === undefined ? undefined : (sub.opts()[attribute] as string | boolean | undefined)
  }
  return values
}

/** Returns the log format of the command line or the environment, even if other flags are wrong. */
function formatOf(argv: readonly string[], env: NodeJS.ProcessEnv): LogFormat {
  const command = commands.find(({ name }) => name === argv[0])
  if (!command?.flags.includes('log.format')) return 'pretty'
  const given = argv.flatMap((word, at) =>
    word === '--log.format' ? (argv[at + 1] ?? []) : (/^--log\.format=(.*)$/s.exec(word)?.[1] ?? []),
  )
  try {
    return readFlags(['log.format'], { 'log.format': given.at(-1) }, env)['log.format']
  } catch {
    return 'pretty'
  }
}

/** Wrong use, with commander's text. */
const usageFault = (text: string): Error => cliFault('BAD_USAGE', { problem: text.trim().replace(/^error: /, '') })

/** Removes `help` before an unknown command: commander prints nothing for it, and an error for the command without it. */
function withKnownHelp(argv: readonly string[]): string[] {
  const [first, topic = 'help'] = argv
  const isKnown = topic === 'help' || topic.startsWith('-') || commands.some(({ name }) => name === topic)
  return first === 'help' && !isKnown ? [topic] : [...argv]
}

/** Runs one command line; never throws. @returns the exit code: 0 done, 1 a failed check, 2 wrong use or a fault, 130 interrupted */
export async function runCli(argv: readonly string[], io: Io): Promise<number> {
  let code = 0
  const program = new Program('basalt')
    .description('an independent node for Base and other OP-Stack chains')
    .exitOverride()
    .enablePositionalOptions()
    .version(packageVersion())
  const format = formatOf(argv, io.env)
  program.configureOutput({
    writeOut: (text) => io.out.write(text),
    writeErr: (text) => io.err.write(text),
    outputError: (text, write) => write(format === 'pretty' ? text : fatalLine(usageFault(text), format)),
  })
  for (const command of commands) {
    addCommand(program, command, io, (result) => {
      code = result
    })
  }
  try {
    await program.parseAsync(withKnownHelp(argv), { from: 'user' })
    return code
  } catch (error) {
    if (error instanceof Error && 'exitCode' in error && 'code' in error && String(error.code).startsWith('commander.')) {
      return error.exitCode === 0 ? 0 : 2
    }
    if (io.signal.aborted && error === io.signal.reason) return 0
    io.err.write(fatalLine(error, format))
    return isFault(error) ? 2 : 70
  }
}
