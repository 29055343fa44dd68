/** Facts about the ports of a node since its start. */
export type PortFacts = {
  readonly sinceStartMs: number
  /** whether nodes of other machines can reach the address it binds */
  readonly isPublic: boolean
  /** whether it searches for peers, from nodes that it knows */
  readonly searches: boolean
  /** whether a node has answered its discovery */
  readonly hasAnswer: boolean
  readonly hasInbound: boolean
  readonly hasOutbound: boolean
  /** number of failed dials */
  readonly failedDials: number
}

/** A port that is probably closed. */
const closedPortKinds = ['discovery', 'outbound', 'inbound'] as const
export type ClosedPort = (typeof closedPortKinds)[number]

/** Text of the log line of a port. */
export const closedPortTexts: Readonly<Record<ClosedPort, string>> = {
  discovery: 'no node answers discovery: the UDP port may be closed, outwards or for answers',
  outbound: 'no peer could be dialled: TCP may be closed outwards',
  inbound: 'no peer has dialled this node: the TCP port may be closed inwards, or the advertised address is wrong',
}

/** Times after which silence means a closed port. Peers dial a node minutes after they have found it. */
const [answerMs, inboundMs] = [60_000, 900_000]
const leastFailures = 3

/** Returns the ports that are probably closed. */
export function closedPorts(facts: PortFacts): readonly ClosedPort[] {
  const { sinceStartMs, isPublic, searches, hasAnswer, hasInbound, hasOutbound, failedDials } = facts
  const isConnected = hasInbound || hasOutbound
  const found: Readonly<Record<ClosedPort, boolean>> = {
    discovery: sinceStartMs >= answerMs && searches && !hasAnswer,
    outbound: sinceStartMs >= answerMs && !isConnected && failedDials >= leastFailures,
    inbound: sinceStartMs >= inboundMs && isPublic && hasOutbound && !hasInbound,
  }
  return closedPortKinds.filter((kind) => found[kind])
}
