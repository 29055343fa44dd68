import type { ForkId } from '#chainspec/forkId'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { NodeAddress } from '../net/nodeId.ts'
import type { DiscoveryDeps } from './deps.ts'
import { OwnRecord } from './ownRecord.ts'
import type { NodeRecordText } from './record.ts'
import { DiscoverySocket } from './socket.ts'
import { DiscoveryV4 } from './v4/discoveryV4.ts'
import { DiscoveryV5 } from './v5/discoveryV5.ts'

export type DiscoverySettings = {
  readonly privateKey: Uint8Array
  readonly host: string
  readonly port: number
  readonly tcpPort: number
  /** address in the record; absent: the address that most nodes report, at least four */
  readonly advertisedHost?: string | undefined
  readonly bootnodes: Bootnodes<NodeAddress>
  /** of v5: 6 characters that all its packets have */
  readonly protocol: string
}

export const discoveryVersions = ['v4', 'v5'] as const
export type DiscoveryVersion = (typeof discoveryVersions)[number]

/** Nodes at which discovery begins; a node may have another port for each version. */
export type Bootnodes<Node> = Readonly<Record<DiscoveryVersion, readonly Node[]>>

/** Protocol id of discovery v5 among execution clients of Base. Of other networks, consensus clients included: `discv5`. */
export const baseProtocol = 'basev0'

/** Pause between two lookups. */
const lookupMs = 5_000

/** Discovery of execution peers, v4 and v5 on one UDP port, with one record. */
export class Discovery {
  readonly #socket: DiscoverySocket
  readonly #own: OwnRecord
  readonly #v4: DiscoveryV4
  readonly #v5: DiscoveryV5
  #timer: Disposable | undefined

  private constructor(socket: DiscoverySocket, deps: Omit<DiscoveryDeps, 'bootnodes'>, { bootnodes, protocol }: DiscoverySettings) {
    this.#socket = socket
    this.#own = deps.own
    this.#v4 = new DiscoveryV4({ ...deps, bootnodes: bootnodes.v4 })
    this.#v5 = new DiscoveryV5({ ...deps, bootnodes: bootnodes.v5 }, protocol)
    socket.onPacket((packet, from) => {
      if (!this.#v5.read(packet, from)) this.#v4.read(packet, from)
    })
    this.#plan(deps.clock)
  }

  /** Binds the port and begins to look for nodes. @throws Error of the socket */
  static async start(
    deps: Pick<DiscoveryDeps, 'isOfChain' | 'onNode'> & { readonly clock: Clock; readonly log: Log; readonly forkId: () => ForkId },
    settings: DiscoverySettings,
  ): Promise<Discovery> {
    const { clock, forkId, isOfChain, onNode } = deps
    const { privateKey, host, port, tcpPort, advertisedHost } = settings
    const socket = await DiscoverySocket.bind(deps, host, port)
    const own = new OwnRecord({ privateKey, tcpPort, udpPort: socket.port, advertisedHost, forkId }, clock.nowMs())
    return new Discovery(socket, { clock, socket, own, privateKey, isOfChain, onNode }, settings)
  }

  async stop(): Promise<void> {
    this.#timer?.[Symbol.dispose]()
    await this.#socket.close()
  }

  get port(): number {
    return this.#socket.port
  }

  /** Nodes that have answered, by version. */
  get sizes(): Readonly<Record<DiscoveryVersion, number>> {
    return { v4: this.#v4.size, v5: this.#v5.size }
  }

  /** Address under which this node is known; undefined: not known yet. */
  get ownHost(): string | undefined {
    return this.#own.host
  }

  /** Record of this node. */
  get record(): NodeRecordText {
    return this.#own.current
  }

  #plan(clock: Clock): void {
    this.#timer = clock.after(lookupMs, () => {
      this.#v4.look()
      this.#v5.look()
      this.#plan(clock)
    })
  }
}
