/** What a peer said about itself in `identify`. */
export type Identity = { readonly agent: string; readonly protocolVersion: string; readonly protocols: readonly string[] }

const maxPeers = 1_024

/** Identities of connected peers. */
export class Identities {
  readonly #payloadProtocols: readonly string[]
  readonly #peers = new Map<string, Identity>()

  constructor(payloadProtocols: readonly string[]) {
    this.#payloadProtocols = payloadProtocols
  }

  get(peer: string): Identity | undefined {
    return this.#peers.get(peer)
  }

  add(peer: string, { agent, protocolVersion, protocols }: Identity): void {
    if (this.#peers.size >= maxPeers) return
    this.#peers.set(peer, { agent: agent.slice(0, 64), protocolVersion: protocolVersion.slice(0, 64), protocols: protocols.slice(0, 64) })
  }

  remove(peer: string): void {
    this.#peers.delete(peer)
  }

  /** Returns whether a peer answers requests for blocks. */
  serves(peer: string): boolean {
    return this.#peers.get(peer)?.protocols.some((protocol) => this.#payloadProtocols.includes(protocol)) ?? false
  }
}
