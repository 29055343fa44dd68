import { Option, Command as Program } from 'commander'
import { isFault } from '#lib/fault'
import type { LogFormat } from '#lib/logNames'
import type { Command, CommandBody, CommandEntry, Io } from './command.ts'
import { packageVersion } from './commands/version.ts'
import { commands } from './commands.ts'
import { exitCodeOf, exitCodes } from './exitCodes.ts'
import { cliFault } from './faults.ts'
import { flagGroups } from './flagSpec.ts'
import { type FlagName, flags, type RawFlags, wordOf } from './flags.ts'
import { faultLine } from './output.ts'
import { readFlags } from './readFlags.ts'
import { knownSecrets, withoutSecrets } from './secrets.ts'

/** Makes commander's option of a flag. */
function optionOf(name: FlagName): Option {
  const { placeholder, doc, env, group } = flags[name]
  const fallback = 'fallbackText' in flags[name] ? `, default ${flags[name].fallbackText}` : ''
  const word = wordOf(name)
  const option = new Option(placeholder === undefined ? `--${word}` : `--${word} <${placeholder}>`, `${doc} (${env}${fallback})`)
  return option.helpGroup(`${group}:`)
}

/** Adds a command whose files are not loaded, for the list of commands in the help. */
function addName(program: Program, { name, doc }: CommandEntry): void {
  program.command(name).description(doc)
}

function addCommand(program: Program, command: Command, io: Io, done: (code: number) => void): void {
  const sub = program.command(command.name).description(command.doc).allowExcessArguments(false)
  for (const inner of command.commands ?? []) addCommand(sub, inner, io, done)
  // a flag after the name of a subcommand belongs to the subcommand, even if both commands have a flag of that name
  if (command.commands) sub.enablePositionalOptions().allowExcessArguments(true)
  const words = [command.argument, command.secondArgument].filter((one) => one !== undefined)
  for (const { name, doc } of words) sub.argument(`<${name}>`, doc)
  for (const group of flagGroups) for (const name of command.flags) if (flags[name].group === group) sub.addOption(optionOf(name))
  for (const name of command.nodeFlags ?? []) sub.addOption(optionOf(name).hideHelp())
  if (command.nodeFlags) sub.addHelpText('after', '\nThe flags of basalt node are accepted too: basalt help node lists them.')
  sub.action(async (...given: unknown[]) => {
    if (sub.args.length > words.length) throw unknownCommand(command, sub.args[words.length] as string)
    const [first = '', second = ''] = words.map((_word, at) => String(given[at]))
    done(await run(command, io, optionsByName(sub, command), first, second))
  })
}

const unknownCommand = ({ name, commands: known = [] }: Command, word: string): Error =>
  cliFault('BAD_USAGE', { problem: `${name} has no command ${JSON.stringify(word)}, it has ${known.map((one) => one.name).join(', ')}` })

/** Runs a command; a fault is written here when its text must not contain secrets. */
async function run(command: Command, io: Io, raw: RawFlags, first: string, second: string): Promise<number> {
  if (!command.masksSecrets) return await command.run(io, raw, first, second)
  const masked = withoutSecrets(io, knownSecrets(raw, io.env))
  try {
    return await command.run(masked, raw, first, second)
  } catch (error) {
    if (!isFault(error) || (io.signal.aborted && error === io.signal.reason)) throw error
    masked.err.write(faultLine(error))
    return exitCodeOf(error)
  }
}

function optionsByName(sub: Program, command: Command): RawFlags {
  const values: Record<string, string | boolean | undefined> = {}
  for (const name of [...command.flags, ...(command.nodeFlags ?? [])]) {
    const attribute = sub.options.find((option) => option.long === `--${wordOf(name)}`)?.attributeName()
    values[name] = attribute === undefined ? undefined : (sub.opts()[attribute] as string | boolean | undefined)
  }
  return values
}

/** Returns the log format of the command line or the environment, even if other flags are wrong. */
function formatOf(command: CommandBody | undefined, argv: readonly string[], env: NodeJS.ProcessEnv): LogFormat {
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

/** Returns the function that formats the error which ends a command. The logger is loaded for its own formats only. */
async function endLineOf(format: LogFormat): Promise<(error: unknown) => string> {
  if (format === 'pretty') return faultLine
  const { fatalLine } = await import('./logOutput.ts')
  return (error) => fatalLine(error, format)
}

/** Wrong use, with commander's text. */
const usageFault = (text: string): Error => cliFault('BAD_USAGE', { problem: text.trim().replace(/^error: /, '') })

/** Removes `help` before an unknown command: commander prints nothing for it, and an error for the command without it. */
function withKnownHelp(argv: readonly string[]): string[] {
  const [first, topic = 'help'] = argv
  const isKnown = topic === 'help' || topic.startsWith('-') || commands.some(({ name }) => name === topic)
  return first === 'help' && !isKnown ? [topic] : [...argv]
}

/** Returns the word of a command line that names its command; `help` may be before it. */
const wordOfCommand = (argv: readonly string[]): string | undefined => (argv[0] === 'help' ? argv[1] : argv[0])

/** Runs one command line; never throws. @returns the exit code, by `exitCodes.ts` */
export async function runCli(argv: readonly string[], io: Io): Promise<number> {
  let code = 0
  const wanted = commands.find(({ name }) => name === wordOfCommand(argv))
  const body = await wanted?.load()
  const program = new Program('basalt')
    .description('an independent node for Base and other OP-Stack chains')
    .exitOverride()
    .enablePositionalOptions()
    .version(packageVersion())
  const endLine = await endLineOf(formatOf(body, argv, io.env))
  program.configureOutput({
    writeOut: (text) => io.out.write(text),
    writeErr: (text) => io.err.write(text),
    outputError: (text, write) => write(endLine === faultLine ? text : endLine(usageFault(text))),
  })
  for (const entry of commands) {
    if (entry !== wanted || body === undefined) addName(program, entry)
    else {
      addCommand(program, { ...body, name: entry.name, doc: entry.doc }, io, (result) => {
        code = result
      })
    }
  }
  try {
    await program.parseAsync(withKnownHelp(argv), { from: 'user' })
    return code
  } catch (error) {
    if (error instanceof Error && 'exitCode' in error && 'code' in error && String(error.code).startsWith('commander.')) {
      return error.exitCode === 0 ? exitCodes.done : exitCodes.fault
    }
    if (io.signal.aborted && error === io.signal.reason) return exitCodes.done
    io.err.write(endLine(error))
    return exitCodeOf(error)
  }
}
