import { latestFork } from '#chainspec/opRules'
import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import { type Node, startNode } from '#node/node'
import type { NodeOptions } from '#node/nodeOptions'
import { needsRestore } from '#snapshot/restore/restoreSnapshot'
import { watchApiKeys } from '../apiKeys.ts'
import { chooseChain } from '../chosenChain.ts'
import type { CommandBody } from '../command.ts'
import { endLines } from '../endLines.ts'
import { cliFault } from '../faults.ts'
import { openLog } from '../logOutput.ts'
import { nodeFlags, nodeOptionsOf, publishedSecret, unusedSecretFile } from '../nodeOptions.ts'
import { createLiveLine } from '../output.ts'
import { showProgress } from '../progress.ts'
import { type Note, readFlags, readFlagsOfMode, strangeVariables } from '../readFlags.ts'
import { knownSecrets } from '../secrets.ts'
import { aborted } from '../signal.ts'
import { beginAnchored } from './anchored.ts'
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

    const { clock, supervisor } = io
    const secrets = knownSecrets(raw, io.env)
    supervisor?.begin(endLines(options, output['log.format']))
    if (given.snapshot !== undefined && needsRestore(options.datadir)) {
      const command = `the same basalt node with --snapshot ${given.snapshot}`
      const restored = await restoreFrom(io, log, line, given, {
        from: given.snapshot,
        datadir: options.datadir,
        config: chain.config,
        command,
      })
      log.info('snapshot restored', restored)
    }
    if (given.start === 'anchored' && needsRestore(options.datadir)) {
      log.info('chain begun', await beginAnchored({ clock, signal: io.signal }, log, given, options))
    }
    await using running = await startNode(
      { clock, random: Math.random, fetch, log, secrets, ...(supervisor && { supervisor }) },
      options,
    ).catch(blameAddress)
    const { http: rpc, rollup, ...urls } = running.urls
    const fork = latestFork(chain.config.schedule, Math.floor(clock.nowMs() / 1_000))
    log.info('node started', { chain: chain.name, fork, mode, rpc, rollup, ...urls, datadir: options.datadir })
    using _keys = watchedKeys({ clock, log }, options, given['rpc.api-keys'], running)
    using _progress = showProgress(clock, line, running)
    const isToStop = aborted(io.signal)
    await Promise.race([running.stopped.then(() => isToStop), isToStop])
    line.end()
    log.info('node stopping', {})
    return 0
  },
}
