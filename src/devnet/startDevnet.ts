import { readFileSync } from 'node:fs'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import type { DevnetFacts } from './control.ts'
import { holdDatadir } from './datadirLock.ts'
import { type DevnetOptions, resolveOptions } from './options.ts'
import type { DevnetAccount, DevnetFaults } from './ports.ts'
import { type DevnetEnd, type RunDeps, runDevnet } from './runDevnet.ts'
import type { DevnetStatus } from './status.ts'

/** A whole OP-Stack chain on this machine: L1, sequencer, batcher, and a verifier that derives everything from L1. */
export interface Devnet extends AsyncDisposable {
  /** JSON-RPC of L2 (HTTP and WebSocket), of the rollup node, of L1, of the verifying node, and the control methods */
  readonly urls: DevnetFacts['urls']
  readonly chainId: number
  readonly l1ChainId: number
  /** each with 10,000 ETH on both chains */
  readonly accounts: readonly DevnetAccount[]
  /** may change the system config on L1 */
  readonly owner: DevnetAccount
  /** on L1 */
  readonly contracts: DevnetFacts['contracts']
  readonly facts: DevnetFacts
  /** what is done to it on demand */
  readonly faults: DevnetFaults
  status(): DevnetStatus
  /** Resolves when it ends by itself: the nodes disagree, or a part failed. Never rejects. */
  readonly ended: Promise<DevnetEnd>
}

/** Of the package, whether this file is in `src` or in `dist`. */
function version(): string {
  const file = new URL('../../package.json', import.meta.url)
  return String((JSON.parse(readFileSync(file, 'utf8')) as { version?: unknown }).version)
}

/** As `startDevnet`, with another clock, network and log. @throws Fault of the part that cannot start, or of an option (all fatal) */
export async function startDevnetWith(deps: Omit<RunDeps, 'version'>, options: DevnetOptions): Promise<Devnet> {
  await using parts = new AsyncDisposableStack()
  // held before it is read: a start that was cut short is removed then, one that is under way must not be
  if (options.datadir !== undefined) parts.use(holdDatadir(options.datadir))
  const resolved = resolveOptions(options)
  const running = parts.use(await runDevnet({ ...deps, version: version() }, resolved))
  const kept = parts.move()
  const { facts, faults, ended } = running
  return {
    urls: facts.urls,
    chainId: facts.chainId,
    l1ChainId: facts.l1ChainId,
    accounts: resolved.accounts,
    owner: resolved.roles.owner,
    contracts: facts.contracts,
    facts,
    faults,
    status: () => running.status(),
    ended,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/**
 * Starts a devnet: `await using devnet = await startDevnet()`. In memory and on free ports unless told otherwise.
 * @returns when its RPC answers; the first block follows within a block time
 * @throws Fault of the part that cannot start, or of an option (all fatal): `code`, `message` and `fix` tell what to do
 */
export function startDevnet(options: DevnetOptions = {}): Promise<Devnet> {
  return startDevnetWith({ clock: systemClock, random: Math.random, fetch, log: silentLog }, options)
}
