// Generates docs/reference/ and the Grafana dashboards from the tables in the code. `--check` fails when the committed files differ.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { controlMethods } from '#devnet/control'
import type { FaultSpec } from '#lib/fault'
import { faultTemplate } from '#lib/faultText'
import type { MetricSpec } from '#lib/metrics'
import { ethRegistry, rollupRegistry } from '#rpc/methods'
import { adminMethods } from '#rpc/methods/admin/methods'
import { engineMethods } from '#rpc/methods/engine/methods'
import { socketMethods } from '#rpc/methods/eth/methods'
import { flagGroups, modes } from '../src/cli/flagSpec.ts'
import { type FlagName, flags, wordOf } from '../src/cli/flags.ts'
import { type Foreign, otherClientEnv } from '../src/cli/otherClientEnv.ts'
import { dashboardFiles } from './dashboards.ts'
import { bufferRows, cacheRows } from './memoryReference.ts'
import { methodsReference } from './methodsReference.ts'
import { root } from './process.ts'

const cell = (text: string): string => text.replaceAll('|', '\\|')
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n')

const secretNote = (secret: boolean | 'in URLs'): string =>
  secret === 'in URLs' ? ' (keys in URLs are never logged)' : secret ? ' (secret: never logged)' : ''

function flagRows(group: string): readonly (readonly string[])[] {
  return Object.entries(flags)
    .filter(([, flag]) => flag.group === group)
    .map(([name, flag]) => [
      `\`--${wordOf(name as FlagName)}${flag.placeholder === undefined ? '' : ` ${flag.placeholder}`}\``,
      [flag.env, ...flag.aliases.map((alias) => alias.name)].map((env) => `\`${env}\``).join(', '),
      'fallbackText' in flag ? `\`${flag.fallbackText}\`` : '',
      flag.modes.length === modes.length ? '' : flag.modes.join(', '),
      `${flag.doc}${secretNote(flag.secret)}`,
    ])
}

const foreignKinds: Readonly<Record<Foreign['kind'], string>> = {
  'no-meaning': 'no meaning here: a warning at the start',
  'not-yet': 'no effect yet: a warning at the start',
  elsewhere: 'read by another program',
}

function flagsPage(): string {
  const head = ['flag', 'environment', 'default', 'modes', 'effect']
  const groups = flagGroups.map((group) => `## ${group}\n\n${table(head, flagRows(group))}\n`)
  const foreign = otherClientEnv.map(({ names, kind, why }) => [names.map((name) => `\`${name}\``).join(', '), foreignKinds[kind], why])
  return `# Flags

The command line wins over the environment, that over the default. Of the variables of one flag the first is its name; the others are those
of older configurations and are read as well, with a line in the log that says the new name. Two variables of one flag that say different
things are a fault. \`SVC_NODE_X\` is read as \`BASE_NODE_X\`, \`CLIENT_X\` as \`RETH_X\`. A flag that has no effect in the mode is refused on the
command line and passed over in the environment.

${groups.join('\n')}
## Variables without a flag

${table(['variable', 'here', 'why'], foreign)}
`
}

/** Imports one file name from every module that has it, in the order of the modules. */
async function moduleExports(file: string): Promise<{ module: string; exports: Record<string, unknown> }[]> {
  const modules = readdirSync(join(root, 'src')).filter((name) => existsSync(join(root, 'src', name, file)))
  return Promise.all(
    modules.map(async (module) => ({ module, exports: (await import(join(root, 'src', module, file))) as Record<string, unknown> })),
  )
}

async function faultsPage(): Promise<string> {
  const rows: string[][] = []
  const anchored = new Set<string>()
  /** Two modules may have one code. */
  const anchorOf = (code: string): string => (anchored.has(code) ? '' : `<a id="${anchored.add(code) && code}"></a>`)
  for (const { module, exports } of await moduleExports('faults.ts')) {
    for (const made of Object.values(exports)) {
      const specs = (made as { specs?: Record<string, FaultSpec> }).specs ?? {}
      for (const [code, spec] of Object.entries(specs))
        rows.push([`\`${code}\``, `${anchorOf(code)}${module}`, spec.severity, faultTemplate(spec), spec.fix])
    }
  }
  return `# Faults\n\n\`retry\`: tried again with a growing pause. \`reset\`: the module returns to a valid state and continues. \`fatal\`: the command ends.\n\n${table(['code', 'module', 'severity', 'text', 'remedy'], rows)}\n`
}

async function metricsPage(): Promise<string> {
  const rows: string[][] = []
  for (const { module, exports } of await moduleExports('metrics.ts')) {
    for (const table of Object.values(exports)) {
      const specs = (table as { specs?: Record<string, MetricSpec> }).specs ?? {}
      for (const { name, kind, labels, help } of Object.values(specs)) {
        const closed = Object.entries(labels).map(
          ([label, values]) => `${label}: ${kind === 'cells' && label === 'method' ? 'as in rpc.md' : values.join(', ')}`,
        )
        rows.push([`\`${name}\``, module, kind === 'cells' ? 'counter' : kind, closed.join('; '), help])
      }
    }
  }
  return `# Metrics\n\nServed at \`/metrics\` of the rollup port and of \`--metrics.port\`; those of the batcher and the devnet at \`/metrics\` of its control port.\n\n${table(['name', 'module', 'kind', 'labels', 'meaning'], rows)}\n`
}

const memoryPage = (): string => `# Memory

\`--memory-max\` bounds the anonymous memory of the process, \`--cache\` the caches in it. [ADR 0033](../adr/0033-memory-of-the-process.md) has measurements.

## Caches

Threads that have the same cache divide its bytes. The bytes are those of the largest default of \`--cache\`. Near \`--memory-max\` all of them, except those of
translated code, shrink to a quarter, then to nothing.

${table(['cache', 'threads', 'holds', 'share of --cache', 'bytes'], cacheRows)}

## Queues, buffers and pools

\`--memory-max\` below some gigabytes lowers the bounds of the servers: requests and answers of all threads take at most a quarter of it for each transport.

${table(['threads', 'holds', 'bound', 'near --memory-max'], bufferRows)}
`

const pages: Readonly<Record<string, string>> = {
  'docs/reference/flags.md': flagsPage(),
  'docs/reference/faults.md': await faultsPage(),
  'docs/reference/memory.md': memoryPage(),
  'docs/reference/metrics.md': await metricsPage(),
  'docs/reference/rpc.md': methodsReference([
    { title: 'Execution half (--http.port)', methods: ethRegistry.values() },
    { title: 'WebSocket (--ws.port), in addition to all of the execution half', methods: socketMethods },
    { title: 'Engine API (--engine.port), with a token; in addition to all of the execution half', methods: engineMethods },
    { title: 'Consensus half (--rollup.port)', methods: rollupRegistry.values() },
    {
      title: 'For the operator (--rollup.port with --rollup.admin; levels of the log and profiles also over --ipc.path)',
      methods: adminMethods,
    },
    { title: 'Devnet (--control.port, on loopback)', methods: controlMethods },
  ]),
  ...dashboardFiles,
}

for (const [name, text] of Object.entries(pages)) {
  const path = join(root, name)
  mkdirSync(dirname(path), { recursive: true })
  if (!process.argv.includes('--check')) writeFileSync(path, text)
  else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
    console.error(`${name} is out of date: npm run docs`)
    process.exitCode = 1
  }
}
