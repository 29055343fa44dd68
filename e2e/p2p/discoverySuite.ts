import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { Discovery, type DiscoveryVersion } from '../../src/executionPeers/discovery/discovery.ts'
import { enodeOf, idOfKey } from '../../src/executionPeers/net/nodeId.ts'
import { createPrivateKey } from '../../src/executionPeers/rlpx/ecies.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/log.ts'
import { publicKeyOf } from '../../src/lib/secp256k1.ts'

/** Returns the programs in a folder whose name begins with `devp2p`: go-ethereum's tool with suites that judge a node. */
export const suitesIn = (folder: string): readonly string[] => readdirSync(folder).filter((name) => name.startsWith('devp2p'))

/** Test of the older suite; the newer one has it as HandshakeResend, with the opposite expectation: the first challenge is sent again. */
const reversed = 'PingHandshakeInterrupted'

/**
 * Has go-ethereum's suite of a version of discovery judge this node. Its v5 has the protocol id `discv5`.
 * @throws Error with the output when a test failed
 */
export async function discoverySuite(path: string, version: DiscoveryVersion): Promise<string> {
  const privateKey = createPrivateKey()
  const discovery = await Discovery.start(
    {
      ...{ clock: systemClock, log: silentLog },
      forkId: () => ({ hash: '0x12345678', next: 0 }),
      isOfChain: () => true,
      onNode: () => {},
    },
    {
      ...{ privateKey, host: '127.0.0.1', port: 0, tcpPort: 30_303, advertisedHost: '127.0.0.1' },
      ...{ bootnodes: { v4: [], v5: [] }, protocol: 'discv5' },
    },
  )
  try {
    const { port: udpPort, record } = discovery
    const enode = enodeOf({ id: idOfKey(publicKeyOf(privateKey)), host: '127.0.0.1', tcpPort: udpPort, udpPort })
    const remote = version === 'v4' ? ['--remote', enode] : [record.text]
    const args = [`disc${version}`, 'test', '--listen1', '127.0.0.1', '--listen2', '127.0.0.2', ...remote]
    const child = spawn(path, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
    await once(child, 'close')
    const failed = [...output.matchAll(/^-- FAIL (\w+)/gm)].map(([, name]) => name)
    const last = output.trimEnd().split('\n').at(-1) ?? ''
    if (!last.includes('tests passed') || failed.some((name) => name !== reversed)) throw new Error(output)
    return failed.length === 0 ? last : `${last} ${reversed} is expected to fail.`
  } finally {
    await discovery.stop()
  }
}
