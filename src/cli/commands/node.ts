import { latestFork } from '#chainspec/opRules'
import { aborted } from '#lib/abortable'
import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import { type FirstStartHealth, openFirstStartHealth } from '#node/firstStartHealth'
import { type Node, startNode } from '#node/node'
import type { NodeOptions } from '#node/nodeOptions'
import { needsRestore } from '#snapshot/restore/restoreSnapshot'
import { watchApiKeys } from '../apiKeys.ts'
import { chooseChain } from '../chosenChain.ts'
import type { CommandBody, Io } from '../command.ts'
import { endLines } from '../endLines.ts'
import { cliFault } from '../faults.ts'
import { openLog } from '../logOutput.ts'
import { nodeFlags, nodeOptionsOf, publishedSecret, unusedSecretFile } from '../nodeOptions.ts'
import { createLiveLine, type LiveLine } from '../output.ts'
import { showProgress } from '../progress.ts'
import { type Note, needed, readFlags, readFlagsOfMode, strangeVariables } from '../readFlags.ts'
import { knownSecrets, shownPlace } from '../secrets.ts'
import { beginAnchored, takeNewAnchor } from './anchored.ts'
import { chooseStart, explainStart, type StartFlags } from './firstStart.ts'
import { restoreFrom } from './snapshot.ts'
import { packageVersion } from './version.ts'

function warnOf({ mode, l1, source }: NodeOptions, log: Log): void {
  if (mode === 'execution') return
  if (l1 && l1.beaconUrls.length === 0) log.warn('no --l1.beacon: the node stops at the first L1 block whose blobs it needs')
  if (!l1 && source) log.warn('no --l1.rpc: the followed node determines the safe and finalized heads')
}

function logNotes(notes: readonly Note[], log: Log): void {
  for (const { level, message, fields } of notes) log[level](message, fields)
}

/** Rethrows an error of a server that could not listen; a bad address is reported with its own flag. */
function blameAddress(error: unknown): never {
  if (!isFault(error, 'LISTEN_FAILED')) throw error
  const { flag, host, reason } = error.data
  if (!/^(?:ENOTFOUND|EAI_\w+|EADDRNOTAVAIL|EINVAL)$/.test(String(reason))) throw error
  const expected = `an address of this machine (${String(reason)})`
  throw cliFault('BAD_FLAG', { flag: String(flag).replace(/\.port$/, '.addr'), value: String(host), expected }, error)
}

/** Watches the file of API keys while the node runs. */
function watchedKeys(
  deps: { readonly clock: Clock; readonly log: Log },
  { listen: { http, ws } }: NodeOptions,
  path: string | undefined,
  running: Pick<Node, 'setApiKeys'>,
): Disposable | undefined {
  const { keys } = http?.rateLimit ?? ws?.rateLimit ?? {}
  return path === undefined || keys === undefined ? undefined : watchApiKeys(deps, path, keys, (now) => running.setApiKeys(now))
}

/**
 * Gives an empty data directory its state in the way that the flags choose. From genesis, the node itself begins.
 * @returns the health port, which has answered meanwhile; undefined: from genesis
 */
async function beginChain(
  io: Io,
  log: Log,
  line: LiveLine,
  given: BeginFlags,
  options: NodeOptions,
): Promise<FirstStartHealth | undefined> {
  const { config, datadir, proofs } = options
  const start = chooseStart(given)
  explainStart(start, log)
  if (start.way === 'genesis') return undefined
  await using opening = new AsyncDisposableStack()
  const step = start.way === 'snapshot' ? 'reading the manifest of the snapshot' : 'choosing and verifying the first block'
  const health = opening.use(await openFirstStartHealth({ clock: io.clock, log }, options, step).catch(blameAddress))
  if (start.way === 'snapshot') {
    const from = needed('snapshot', given.snapshot)
    const command = `the same basalt node with --snapshot ${shownPlace(from)}`
    const shown: LiveLine = {
      ...line,
      show(text): void {
        line.show(text)
        health.show(text.replaceAll(/ {2,}/g, ', '))
      },
    }
    log.info('snapshot restored', await restoreFrom(io, log, shown, given, { from, datadir, proofsDir: proofs?.dir, config, command }))
  } else {
    log.info('chain begun', await beginAnchored({ clock: io.clock, signal: io.signal }, log, given, { config, datadir }))
  }
  health.show('opening the database')
  opening.move()
  return health
}
type BeginFlags = StartFlags & Parameters<typeof restoreFrom>[3]

export const node: CommandBody = {
  flags: nodeFlags,
  async run(io, raw): Promise<number> {
    const { mode } = readFlags(['mode'], raw, io.env)
    const { values: output } = readFlagsOfMode(['log.level', 'log.format'], mode, raw, io.env)
    using line = createLiveLine(io, output['log.format'] === 'pretty')
    const log = openLog(io, output['log.level'], output['log.format'], line)
    // before any flag can be refused: a typing error in a variable explains a missing flag
    logNotes(strangeVariables(io.env), log)
    const { values: given, notes } = readFlagsOfMode(nodeFlags, mode, raw, io.env)
    const chain = chooseChain(given)
    const options = nodeOptionsOf(given, { config: chain.config, genesis: () => chain.genesis }, packageVersion())
    const unusedFile = unusedSecretFile(given, raw)
    logNotes(notes, log)
    for (const warning of chain.warnings) log.warn('unknown entry in a file of the chain', { warning })
    warnOf(options, log)
    if (unusedFile !== undefined) log.warn('secret of the Engine API given as a value, its file is not used', { file: unusedFile })
    if (mode !== 'all' && given['jwt.secret'] === publishedSecret) {
      log.warn('secret of the Engine API is a public sample: remove it, and the node creates one', { flag: '--jwt.secret' })
    }

    const secrets = knownSecrets(raw, io.env)
    io.supervisor?.begin(endLines(options, output['log.format']))
    const isFirst = mode !== 'consensus' && needsRestore(options.datadir)
    await using firstHealth = isFirst ? await beginChain(io, log, line, given, options) : undefined
    let health = firstHealth?.server
    for (let isOver = false; !isOver; health = undefined) {
      try {
        await serve(io, log, line, { options, chain: chain.name, keysFile: given['rpc.api-keys'], secrets, health })
        isOver = true
      } catch (error) {
        if (!(await takeNewAnchor(io, log, given, options, error))) throw error
      }
    }
    return 0
  },
}

type Served = {
  readonly options: NodeOptions
  readonly chain: string
  readonly keysFile: string | undefined
  readonly secrets: ReturnType<typeof knownSecrets>
  /** answers already */
  readonly health: FirstStartHealth['server']
}

/** Runs a node until the process shall stop. @throws the fault that ended it */
async function serve(io: Io, log: Log, line: LiveLine, { options, chain, keysFile, secrets, health }: Served): Promise<void> {
  const { clock, supervisor } = io
  const { config, mode, datadir } = options
  await using running = await startNode(
    { clock, random: Math.random, fetch, log, secrets, health, ...(supervisor && { supervisor }) },
    options,
  ).catch(blameAddress)
  const { http: rpc, rollup, ...urls } = running.urls
  const fork = latestFork(config.schedule, Math.floor(clock.nowMs() / 1_000))
  log.info('node started', { chain, fork, mode, rpc, rollup, ...urls, datadir })
  using _keys = watchedKeys({ clock, log }, options, keysFile, running)
  using _progress = showProgress(clock, line, running)
  const isToStop = aborted(io.signal)
  await Promise.race([running.stopped.then(() => isToStop), isToStop])
  line.end()
  log.info('node stopping', {})
}
