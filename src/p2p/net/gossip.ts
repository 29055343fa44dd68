import { type GossipSub, type GossipSubComponents, gossipsub, type Message, StrictNoSign, TopicValidatorResult } from '@libp2p/gossipsub'
import type { PeerId } from '@libp2p/interface'
import { timeOf } from '#chainspec/blockTime'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { emptyBytes } from '#lib/bytes'
import type { Clock } from '#lib/clock'
import { encodeSnappyBlock } from '#lib/peers/snappy'
import { sha256 } from '#lib/sha256'
import type { Address } from '#types/ids'
import type { Payload } from '#types/payload'
import { judgeBlock } from '../protocol/judgeBlock.ts'
import { decompressMessage, maxMessageBytes, messageId } from '../protocol/messageId.ts'
import { SeenBlocks } from '../protocol/seenBlocks.ts'
import { type BlockVersion, blocksTopic, blocksTopics, blockVersions, versionOfTopic } from '../protocol/topics.ts'
import type { SignedBlock } from '../thread/protocol.ts'
import type { PeerCounts } from './peerEvents.ts'
import { scoresOf } from './scores.ts'

export type BlockGossipDeps = {
  readonly clock: Clock
  readonly counts: PeerCounts
  /** score of a peer for its answers to requests */
  readonly reputation: (peer: string) => number
  readonly onBlock: (payload: Payload, latencyMs: number) => void
}

/** Router of libp2p with the members that its interface leaves out. */
export type Router = GossipSub & {
  getMeshPeers(topic: string): readonly string[]
  getScore(peer: string): number
}

/** Bytes of an RPC frame: the largest message and its envelope. */
const maxFrameBytes = maxMessageBytes + 65_536
/** Bytes that may wait for a peer that reads slowly; its stream is reset above. */
const maxQueuedBytes = 4 * maxMessageBytes

/** Gossip of blocks: validates what peers send, publishes what is built here. */
export class BlockGossip {
  readonly #deps: BlockGossipDeps
  readonly #config: RollupConfig
  readonly #seen = new SeenBlocks()
  /** decompressed data of messages between the computation of their id and their validation */
  readonly #decompressed = new WeakMap<Uint8Array, { readonly message: Uint8Array | undefined }>()
  #signer: Address | undefined
  #router: Router | undefined

  constructor(deps: BlockGossipDeps, config: RollupConfig, signer: Address | undefined) {
    this.#deps = deps
    this.#config = config
    this.#signer = signer
  }

  set signer(signer: Address) {
    this.#signer = signer
  }

  /** Returns the service for libp2p. Values are those of the specification; the duplicate cache is Base's. */
  service(): (components: GossipSubComponents) => GossipSub {
    const topics = blocksTopics(this.#config.l2ChainId)
    return gossipsub({
      globalSignaturePolicy: StrictNoSign,
      allowedTopics: [...topics],
      ...{ D: 8, Dlo: 6, Dhi: 12, Dlazy: 6, heartbeatInterval: 500, mcacheLength: 12, mcacheGossip: 3 },
      ...{ fanoutTTL: 24_000, seenTTL: 120_000 },
      ...{ floodPublish: false, doPX: false, fallbackToFloodsub: false, emitSelf: false, batchPublish: true },
      allowPublishToZeroTopicPeers: true,
      ignoreDuplicatePublishError: true,
      // one frame of a peer after the other: a peer that floods waits for its own messages
      ...{ awaitRpcHandler: true, awaitRpcMessageHandler: true },
      ...{ maxInboundStreams: 4, maxOutboundStreams: 4 },
      maxInboundDataLength: maxFrameBytes,
      maxOutboundBufferSize: maxQueuedBytes,
      decodeRpcLimits: {
        ...{ maxSubscriptions: 64, maxMessages: 256, maxControlMessages: 64, maxPeerInfos: 16 },
        ...{ maxIhaveMessageIDs: 5_000, maxIwantMessageIDs: 5_000, maxIdontwantMessageIDs: 512 },
      },
      maxTopicBytesPerPeer: 65_536,
      fastMsgIdFn: ({ topic, data }) => `${topic}${Buffer.from(sha256(data ?? emptyBytes)).toString('latin1')}`,
      msgIdFn: ({ topic, data }) => messageId(topic, data, this.#decompress(data)),
      msgIdToStrFn: (id) => Buffer.from(id).toString('latin1'),
      ...scoresOf(topics, this.#deps.reputation),
    })
  }

  /** Subscribes to the topics. @param router the service, started */
  start(router: Router): void {
    this.#router = router
    for (const topic of blocksTopics(this.#config.l2ChainId)) {
      router.topicValidators.set(topic, (peer, message) => this.#validate(peer, message))
      router.subscribe(topic)
    }
  }

  /** @returns the number of peers to which the message was sent */
  async publish({ version, message }: SignedBlock): Promise<number> {
    const data = encodeSnappyBlock(message)
    this.#deps.counts.published(data.length)
    const result = await this.#router?.publish(this.#topic(version), data)
    return result?.recipients.length ?? 0
  }

  score(peer: string): number {
    return this.#router?.getScore(peer) ?? 0
  }

  /** Returns the peers that subscribe to the topic of each layout. */
  subscribers(): readonly (readonly PeerId[])[] {
    return blockVersions.map((version) => this.#router?.getSubscribers(this.#topic(version)) ?? [])
  }

  /** Returns the number of different peers in a mesh. */
  meshPeers(): number {
    const peers = blockVersions.flatMap((version) => this.#router?.getMeshPeers(this.#topic(version)) ?? [])
    return new Set(peers).size
  }

  #topic(version: BlockVersion): string {
    return blocksTopic(this.#config.l2ChainId, version)
  }

  #decompress(data: Uint8Array): Uint8Array | undefined {
    const known = this.#decompressed.get(data)
    if (known) return known.message
    const message = decompressMessage(data)
    this.#decompressed.set(data, { message })
    return message
  }

  #validate(_peer: PeerId, { topic, data }: Message): TopicValidatorResult {
    const { clock, counts, onBlock } = this.#deps
    const config = this.#config
    const version = versionOfTopic(config.l2ChainId, topic)
    if (version === undefined) return TopicValidatorResult.Ignore
    const nowMs = clock.nowMs()
    const verdict = judgeBlock({ config, signer: this.#signer, nowMs, seen: this.#seen }, version, this.#decompress(data))
    this.#decompressed.delete(data)
    if (verdict.kind !== 'accept') {
      counts.message(verdict.reason, data.length)
      return verdict.kind === 'reject' ? TopicValidatorResult.Reject : TopicValidatorResult.Ignore
    }
    const { payload } = verdict
    counts.message('accepted', data.length)
    this.#seen.add(payload.blockNumber, payload.blockHash)
    onBlock(payload, nowMs - timeOf(config, payload.blockNumber))
    return TopicValidatorResult.Accept
  }
}
