import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import type { DevnetChainFiles } from '#devnet/devnetChain'
import { exportedChain } from '#devnet/exportedChain'
import type { RemoteDevnet } from '#devnet/remoteDevnet'
import { objectOf } from '#types/jsonShape'
import type { Command } from '../command.ts'
import { connect } from '../devnet/connect.ts'
import { writeExport } from '../devnet/exportFiles.ts'
import type { FlagName } from '../flags.ts'
import { printResult } from '../output.ts'
import { readFlags } from '../readFlags.ts'

const names = ['force', 'control.port', 'json'] as const satisfies readonly FlagName[]
const fileNames = { genesis: 'genesis.json', rollup: 'rollup.json', l1ChainConfig: 'l1-chain-config.json', jwt: 'jwt.hex' } as const
type Paths = Readonly<Record<keyof typeof fileNames, string>>

const jsonText = (json: unknown): string => `${JSON.stringify(json, null, 2)}\n`

/** Ports that neither the devnet nor the other clients use by default. */
const ownPorts = '--http.port 18545 --ws.port 18546 --rollup.port 17545 --metrics.port 17300'

/** Returns commands that start other clients with the files. */
function startCommands({ genesis, rollup, l1ChainConfig, jwt }: Paths, { urls, chainId, l1BlockTimeSec }: RemoteDevnet['facts']): string {
  return `
The nodes of the devnet have no Engine API port. The secret in ${jwt} is new, for the two halves of another client:

  basalt node --datadir DATA --rollup.config ${rollup} --genesis ${genesis} --l1.chain-config ${l1ChainConfig} \\
    --l1.rpc ${urls.l1} --l1.beacon ${urls.l1Beacon} --l1.slot-seconds ${l1BlockTimeSec} --l1.trust-transactions \\
    ${ownPorts}

  geth init --datadir DATA ${genesis}
  geth --datadir DATA --networkid ${chainId} --authrpc.port 9551 --authrpc.jwtsecret ${jwt} --syncmode full --nodiscover
  op-node --l1 ${urls.l1} --l1.beacon ${urls.l1Beacon} --l1.rpckind basic --l1.trustrpc --p2p.disable \\
    --rollup.config ${rollup} --rollup.l1-chain-config ${l1ChainConfig} \\
    --l2 http://127.0.0.1:9551 --l2.jwt-secret ${jwt} --rpc.port 9545

  base-reth-node node --datadir DATA --chain ${genesis} --authrpc.port 9551 --authrpc.jwtsecret ${jwt}
  base-consensus node --l1-eth-rpc ${urls.l1} --l1-beacon ${urls.l1Beacon} --l1-slot-duration-override ${l1BlockTimeSec} \\
    --l2-config-file ${rollup} --l1-config-file ${l1ChainConfig} \\
    --l2-engine-rpc http://127.0.0.1:9551 --l2-engine-jwt-secret ${jwt}

op-geth and op-node know the forks up to Jovian: basalt devnet --fork jovian.
`
}

export const exportChain: Command = {
  name: 'export',
  doc: 'write genesis, rollup config, chain config of L1 and an Engine API secret as other clients read them',
  argument: { name: 'DIR', doc: 'directory of the files, which is created' },
  flags: names,
  async run(io, raw, directory): Promise<number> {
    const given = readFlags(names, raw, io.env)
    const devnet = await connect(io, given['control.port'])
    const { facts } = devnet
    const files = await devnet.control('devnet_chain', [], (result) => objectOf(result, 'chain') as DevnetChainFiles)
    const chain = exportedChain(files, facts.l1ChainId)
    const secret = randomBytes(32).toString('hex')
    writeExport(
      directory,
      [
        { name: fileNames.genesis, text: jsonText(chain.genesis), isSecret: false },
        { name: fileNames.rollup, text: jsonText(chain.rollup), isSecret: false },
        { name: fileNames.l1ChainConfig, text: jsonText(chain.l1ChainConfig), isSecret: false },
        { name: fileNames.jwt, text: secret, isSecret: true },
      ],
      given.force,
    )
    const paths = Object.fromEntries(Object.entries(fileNames).map(([key, name]) => [key, join(resolve(directory), name)])) as Paths
    printResult(io, given.json, { ...paths, l1: facts.urls.l1, l1Beacon: facts.urls.l1Beacon })
    if (!given.json) io.out.write(startCommands(paths, facts))
    return 0
  },
}
