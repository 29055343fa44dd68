import { once } from 'node:events'
import { connect as connectSocket, type Socket } from 'node:net'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { systemClock } from '#lib/clock'
import { publicKeyOf } from '#lib/secp256k1'
import { forkIdAt } from '../../../src/chainspec/forkId.ts'
import { decodeStatus, encodeStatus, ethMessage, type Status } from '../../../src/executionPeers/eth/messages.ts'
import { keyOfId, parseNode } from '../../../src/executionPeers/net/nodeId.ts'
import { createPrivateKey } from '../../../src/executionPeers/rlpx/ecies.ts'
import { type Ended, maxMessageBytes, RlpxConnection } from '../../../src/executionPeers/rlpx/rlpxConnection.ts'

export type Attacker = {
  readonly socket: Socket
  readonly connection: RlpxConnection
  readonly status: Promise<Status>
  readonly ended: Promise<Ended>
  /** Sends a message of eth. */
  send(message: number, body: Uint8Array): void
  readonly received: { readonly message: number; readonly bytes: number }[]
}

/** Connects to a node and answers its Hello; what follows is up to the test. */
export async function attack(
  enode: string,
  config: RollupConfig,
  {
    version = 69 as 68 | 69,
    from = '127.0.0.1',
    more = {} as Partial<Status>,
    onMessage = (_message: number, _body: Uint8Array) => {},
  } = {},
): Promise<Attacker> {
  const { id, host, tcpPort } = parseNode(enode)
  const socket = connectSocket({ host, port: tcpPort, localAddress: from })
  await once(socket, 'connect')
  const privateKey = createPrivateKey()
  const status = Promise.withResolvers<Status>()
  const ended = Promise.withResolvers<Ended>()
  const received: Attacker['received'] = []
  const hello = { version: 5, client: 'attacker', capabilities: [{ name: 'eth', version }], port: 0, id: publicKeyOf(privateKey) }
  const send = (message: number, body: Uint8Array): void => connection.send(16 + message, body)
  const connection: RlpxConnection = new RlpxConnection(
    systemClock,
    socket,
    { privateKey, hello, remote: keyOfId(id) },
    {
      onHello: () => {
        const head = { earliest: 0, latest: 1, latestHash: config.genesis.l2.hash }
        send(
          ethMessage.status,
          encodeStatus({
            ...{ version, networkId: config.l2ChainId, genesis: config.genesis.l2.hash, latestHash: head.latestHash },
            forkId: forkIdAt(config, Math.floor(Date.now() / 1_000)),
            ...(version === 69 && { range: head }),
            ...more,
          }),
        )
      },
      onMessage: (at, body) => {
        const message = at - 16
        received.push({ message, bytes: body.length })
        if (message === ethMessage.status) status.resolve(decodeStatus(version, body))
        onMessage(message, body)
      },
      onEnd: (how) => ended.resolve(how),
      maxBytes: () => 2 ** 24,
      maxBodyBytes: () => maxMessageBytes,
    },
  )
  connection.begin()
  return { socket, connection, status: status.promise, ended: ended.promise, send, received }
}
