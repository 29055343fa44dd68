import { rpcCall } from '#test/harness/process/cliProcess'

export type Head = { readonly number: number; readonly hash: string }

/** A peer as a participant sees it. `offences`: invalid messages and penalties for its behaviour or its address, as numbers of the scores. */
export type PeerView = {
  readonly peerId: string
  readonly score: number
  readonly offences: number
  readonly gossipBlocks: boolean
  readonly isConnected: boolean
}

/** A consensus node of either kind with its execution half. */
export interface Participant extends AsyncDisposable {
  readonly name: string
  readonly kind: 'ours' | 'theirs'
  readonly peerId: string
  readonly enr: string
  /** multiaddr at which it is dialled */
  readonly address: string
  /** TCP port of its peers */
  readonly port: number
  /** URL of its rollup port */
  readonly rollup: string
  unsafeHead(): Promise<Head>
  /** Returns the hash of a block; undefined: it does not have the block. */
  hashAt(number: number): Promise<string | undefined>
  /** Returns the connected peers. */
  peers(): Promise<readonly PeerView[]>
  /** Returns a counter of its metrics, summed over the labels that match. */
  metric(name: string, labels?: string): Promise<number>
  /** Returns its last log lines. */
  tail(): string
}

/** Connections at the start of a participant. */
export type Joining = {
  readonly bootnodes?: readonly string[]
  readonly staticPeers?: readonly string[]
  readonly hasDiscovery: boolean
  /** enodes of peers of the execution half that another client drives */
  readonly executionPeers?: readonly string[]
}

type PeerJson = {
  readonly connectedness?: number
  readonly gossipBlocks?: boolean
  readonly scores?: {
    readonly gossip?: {
      readonly total?: number
      readonly blocks?: { readonly invalidMessageDeliveries?: number }
      readonly IPColocationFactor?: number
      readonly behavioralPenalty?: number
    }
  }
}

function offencesOf({ scores }: PeerJson): number {
  const { blocks, IPColocationFactor = 0, behavioralPenalty = 0 } = scores?.gossip ?? {}
  return (blocks?.invalidMessageDeliveries ?? 0) + Math.abs(IPColocationFactor) + Math.abs(behavioralPenalty)
}

/** Returns the peers that a rollup port of either client reports. */
export async function peersAt(rollupUrl: string): Promise<readonly PeerView[]> {
  const { peers } = (await rpcCall(rollupUrl, 'opp2p_peers', [true])) as { readonly peers: Readonly<Record<string, PeerJson>> }
  return Object.entries(peers).map(([peerId, peer]) => ({
    peerId,
    score: peer.scores?.gossip?.total ?? 0,
    offences: offencesOf(peer),
    gossipBlocks: peer.gossipBlocks ?? false,
    isConnected: peer.connectedness === 1,
  }))
}

export async function selfAt(rollupUrl: string): Promise<{ readonly peerId: string; readonly enr: string }> {
  const { peerID, ENR } = (await rpcCall(rollupUrl, 'opp2p_self')) as { readonly peerID: string; readonly ENR: string }
  return { peerId: peerID, enr: ENR }
}

export async function unsafeHeadAt(rollupUrl: string): Promise<Head> {
  const { unsafe_l2 } = (await rpcCall(rollupUrl, 'optimism_syncStatus')) as { readonly unsafe_l2: Head }
  return { number: unsafe_l2.number, hash: unsafe_l2.hash }
}

/** Starts a sequencer that waits for it, on the genesis of its chain. */
export async function startSequencing({ rollup }: Pick<Participant, 'rollup'>, genesis: string): Promise<void> {
  await rpcCall(rollup, 'admin_startSequencer', [genesis])
}

/** Returns the hash of a block from an execution half. */
export async function hashFrom(url: string, number: number): Promise<string | undefined> {
  const block = (await rpcCall(url, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, false])) as { readonly hash: string } | null
  return block?.hash
}

/** Sums the samples of a metric whose labels contain a text. @throws Error without such a metric */
export async function metricAt(url: string, name: string, labels = ''): Promise<number> {
  const text = await (await fetch(url)).text()
  const lines = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
  return lines.filter((line) => line.includes(labels)).reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}
