import type { ExecutionPeerFacts, ExecutionPeerNetwork, ExecutionPeersSelf } from '#types/executionPeer'
import { flag, text } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import { invalidInput, methodNotFound } from '../../errors.ts'
import { type Method, param, type ResultCodec } from '../../registry.ts'
import { ethMethod } from '../define.ts'

/** @throws RpcError −32601 on a node without execution peers */
function networkOf({ peers }: Pick<EthContext, 'peers'>): ExecutionPeerNetwork {
  if (peers === undefined) throw methodNotFound()
  return peers
}

/** @throws RpcError −32000 when the text names no node */
async function done(run: () => Promise<void>): Promise<boolean> {
  try {
    await run()
    return true
  } catch (error) {
    throw invalidInput(error instanceof Error ? error.message : String(error))
  }
}

const peerList: ResultCodec<readonly ExecutionPeerFacts[]> = {
  doc: "connected peers, in go-ethereum's format",
  schema: { type: 'array', items: { type: 'object', required: ['enode', 'id', 'name', 'caps', 'network', 'protocols'] } },
  encode: (peers) =>
    peers.map(({ enode, id, client, capabilities, localAddress, remoteAddress, direction, isTrusted, isStatic, version, range }) => ({
      ...{ enode, id, name: client, caps: [...capabilities] },
      network: { localAddress, remoteAddress, inbound: direction === 'inbound', trusted: isTrusted, static: isStatic },
      protocols: {
        eth: { version, ...(range && { earliestBlock: range.earliest, latestBlock: range.latest, latestBlockHash: range.latestHash }) },
      },
    })),
}

type Node = { readonly self: ExecutionPeersSelf; readonly chainId: number; readonly genesis: string; readonly head: string }
const nodeInfoResult: ResultCodec<Node> = {
  doc: "this node, in go-ethereum's format; without an ENR while discovery is off",
  schema: { type: 'object', required: ['id', 'name', 'enode', 'ip', 'ports', 'listenAddr', 'protocols'] },
  encode: ({ self: { id, client, enode, enr, ip, udpPort, tcpPort, listenAddress }, chainId, genesis, head }) => ({
    ...{ id, name: client, enode, ...(enr !== '' && { enr }), ip },
    ports: { discovery: udpPort, listener: tcpPort },
    listenAddr: listenAddress,
    protocols: { eth: { network: chainId, genesis, head } },
  }),
}

const example = `enode://${'79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'.repeat(2)}@192.0.2.1:30303`

type Change = { readonly name: string; readonly doc: string; readonly run: (network: ExecutionPeerNetwork, node: string) => Promise<void> }
const changes: readonly Change[] = [
  { name: 'addPeer', doc: 'Keeps an execution peer connected: an enode URL or an ENR.', run: (network, node) => network.keep(node, false) },
  {
    name: 'removePeer',
    doc: 'Disconnects an execution peer, and no longer keeps it connected.',
    run: (network, node) => network.drop(node, 'peers'),
  },
  {
    name: 'addTrustedPeer',
    doc: 'Keeps an execution peer connected, exempt from bans and from the limit of connections.',
    run: (network, node) => network.keep(node, true),
  },
  {
    name: 'removeTrustedPeer',
    doc: 'Ends the exemption of an execution peer; it stays connected.',
    run: (network, node) => network.drop(node, 'trusted'),
  },
]

/** `admin_*` of the execution half: peers of the execution network. */
export const executionPeerMethods: readonly Method<EthContext>[] = [
  ...changes.map(({ name, doc, run }) =>
    ethMethod({
      name: `admin_${name}`,
      doc,
      params: [param('node', text)],
      result: flag,
      cost: 'instant',
      example: { params: [example], result: true },
      run(context, node): Promise<boolean> {
        const network = networkOf(context)
        return done(() => run(network, node))
      },
    }),
  ),
  ethMethod({
    name: 'admin_peers',
    doc: 'Connected execution peers.',
    params: [],
    result: peerList,
    cost: 'instant',
    example: { params: [] },
    run: (context) => networkOf(context).peers(),
  }),
  ethMethod({
    name: 'admin_nodeInfo',
    doc: 'This node on the execution network.',
    params: [],
    result: nodeInfoResult,
    cost: 'instant',
    example: { params: [] },
    async run(context): Promise<Node> {
      const self = await networkOf(context).self()
      using view = context.chain.view()
      return { self, chainId: context.chainId, genesis: context.forks.genesis.l2.hash, head: view.heads.latest.hash }
    },
  }),
]
