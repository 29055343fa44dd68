import { ignoreReasons, rejectReasons } from '../protocol/judgeBlock.ts'

/** Outcomes of block messages. */
export const messageOutcomes = ['accepted', ...rejectReasons, ...ignoreReasons] as const
export type MessageOutcome = (typeof messageOutcomes)[number]

/** Agents of which peers are counted separately. */
export const agentNames = ['base', 'optimism', 'basalt', 'other', 'unknown'] as const
export type AgentName = (typeof agentNames)[number]

/** Returns the name under which a peer's agent is counted. */
export function agentNameOf(agent: string | undefined): AgentName {
  if (!agent) return 'unknown'
  const known = (['basalt', 'base', 'optimism'] as const).find((name) => agent === name || agent.startsWith(`${name}/`))
  return known ?? 'other'
}

export const servedOutcomes = ['found', 'not_found', 'bad_request', 'throttled', 'failed'] as const
export type ServedOutcome = (typeof servedOutcomes)[number]
export const fetchedOutcomes = ['found', 'not_found', 'malformed', 'failed'] as const
export type FetchedOutcome = (typeof fetchedOutcomes)[number]

/** What happened since the report before: counts, and the state now. */
export type PeerEvents = {
  readonly messages: Readonly<Partial<Record<MessageOutcome, number>>>
  readonly receivedBytes: number
  readonly publishedBytes: number
  readonly served: Readonly<Partial<Record<ServedOutcome, number>>>
  readonly fetched: Readonly<Partial<Record<FetchedOutcome, number>>>
  readonly bans: number
  readonly peers: readonly { readonly direction: 'inbound' | 'outbound'; readonly agent: AgentName; readonly count: number }[]
  readonly meshPeers: number
  readonly tablePeers: number
  /** processor time of the thread in seconds, since its start */
  readonly cpuSec: number
}

type Counts<K extends string> = Partial<Record<K, number>>

/** Counts events between two reports. */
export class PeerCounts {
  #messages: Counts<MessageOutcome> = {}
  #served: Counts<ServedOutcome> = {}
  #fetched: Counts<FetchedOutcome> = {}
  #receivedBytes = 0
  #publishedBytes = 0
  #bans = 0

  message(outcome: MessageOutcome, bytes: number): void {
    this.#messages[outcome] = (this.#messages[outcome] ?? 0) + 1
    this.#receivedBytes += bytes
  }

  published(bytes: number): void {
    this.#publishedBytes += bytes
  }

  served(outcome: ServedOutcome): void {
    this.#served[outcome] = (this.#served[outcome] ?? 0) + 1
  }

  fetched(outcome: FetchedOutcome): void {
    this.#fetched[outcome] = (this.#fetched[outcome] ?? 0) + 1
  }

  banned(): void {
    this.#bans++
  }

  /** Returns the counts and starts again from zero. */
  take(): Omit<PeerEvents, 'peers' | 'meshPeers' | 'tablePeers' | 'cpuSec'> {
    const taken = {
      messages: this.#messages,
      served: this.#served,
      fetched: this.#fetched,
      receivedBytes: this.#receivedBytes,
      publishedBytes: this.#publishedBytes,
      bans: this.#bans,
    }
    this.#messages = {}
    this.#served = {}
    this.#fetched = {}
    this.#receivedBytes = 0
    this.#publishedBytes = 0
    this.#bans = 0
    return taken
  }
}
