import { type ForkSchedule, isActive } from '#chainspec/forks'

/** Layouts of a block message, oldest first: Bedrock, Canyon, Ecotone, Isthmus and later. */
export const blockVersions = [0, 1, 2, 3] as const
export type BlockVersion = (typeof blockVersions)[number]

/** Returns the layout of a block by its timestamp in seconds. @see specs protocol/rollup-node-p2p.md, "Block gossip topics" */
export function blockVersionAt(schedule: ForkSchedule, timestamp: number): BlockVersion {
  if (isActive(schedule, 'isthmus', timestamp)) return 3
  if (isActive(schedule, 'ecotone', timestamp)) return 2
  return isActive(schedule, 'canyon', timestamp) ? 1 : 0
}

/** Returns the gossip topic of a chain's blocks in one layout. */
export const blocksTopic = (chainId: number, version: BlockVersion): string => `/optimism/${chainId}/${version}/blocks`

/** Returns the gossip topics of a chain, in the order of `blockVersions`. */
export const blocksTopics = (chainId: number): readonly string[] => blockVersions.map((version) => blocksTopic(chainId, version))

/** Returns the layout of a topic of the chain; undefined for any other topic. */
export function versionOfTopic(chainId: number, topic: string): BlockVersion | undefined {
  return blockVersions.find((version) => topic === blocksTopic(chainId, version))
}
