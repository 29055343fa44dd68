/** A connected peer of the execution network. */
export type ExecutionPeerFacts = {
  /** public key, 128 hex digits */
  readonly publicKey: string
  /** hash of the public key, hex without prefix */
  readonly id: string
  readonly client: string
  /** capabilities that the peer named, as NAME/VERSION */
  readonly capabilities: readonly string[]
  readonly enode: string
  readonly localAddress: string
  readonly remoteAddress: string
  readonly direction: 'inbound' | 'outbound'
  readonly isTrusted: boolean
  readonly isStatic: boolean
  readonly version: number
  /** blocks that the peer serves; absent in eth/68 */
  readonly range?: { readonly earliest: number; readonly latest: number; readonly latestHash: string }
}

/** This node on the execution network. */
export type ExecutionPeersSelf = {
  readonly publicKey: string
  readonly id: string
  readonly client: string
  readonly enode: string
  /** empty: discovery is off */
  readonly enr: string
  readonly ip: string
  readonly tcpPort: number
  /** 0: discovery is off */
  readonly udpPort: number
  readonly listenAddress: string
}

/** Calls of an operator on the execution network. A text that names no node rejects with a SyntaxError. */
export interface ExecutionPeerNetwork {
  self(): Promise<ExecutionPeersSelf>
  peers(): Promise<readonly ExecutionPeerFacts[]>
  /** Number of connected peers; 0 while the thread is started again. */
  count(): Promise<number>
  /** Whether peers can connect now. */
  isListening(): Promise<boolean>
  /** Keeps a node connected. @param node enode URL or ENR */
  keep(node: string, isTrusted: boolean): Promise<void>
  /** Ends the connection with a node, or only its trust. */
  drop(node: string, from: 'peers' | 'trusted'): Promise<void>
}
