import { expect, it } from 'vitest'
import { networkOf } from './networks.ts'

/** Published values of both networks, in the order of the columns base, base-sepolia. */
const published = {
  chain: [8_453, 84_532],
  l1Chain: [1, 11_155_111],
  l1Genesis: [
    '17481768 0x5c13d307623a926cd31415036c8b7fa14572f9dac64528e857a470511fc30771',
    '4370868 0xcac9a83291d4dec146d6f7f69ab2304f23f5be87b1789119a0c5b1e4482444ed',
  ],
  l2Genesis: [
    '0 0xf712aa9241cc24369b143cf6dce85f0902a9731e70d66818a3a5845b296c73dd',
    '0 0x0dcc9e089e30b90ddfc55be9a37dd15bc551aeee999d2e2b51414c54eaf934e4',
  ],
  l2TimeSec: [1_686_789_347, 1_695_768_288],
  batcher: ['0x5050f69a9786f081509234f1a7f4684b5e5b76c9', '0x6cdebe940bc0f26850285caca097c11c33103e47'],
  gas: ['30000000 188 684000', '25000000 2100 1000000'],
  inbox: ['0xff00000000000000000000000000000000008453', '0xff00000000000000000000000000000000084532'],
  portal: ['0x49048044d57e1c92a77f79988d21fa8faf74e97e', '0x49f53e41452c74589e85ca1677426ba426459e85'],
  systemConfig: ['0x73a79fab69143498ed3712e519a88a918e1f4072', '0xf272670eb55e895584501d564afeb048bed26194'],
  eip1559: ['6 50 250', '10 50 250'],
  azul: ['2026-05-28T18:00:00Z', '2026-04-20T18:00:00Z'],
  beryl: ['2026-06-25T18:00:00Z', '2026-06-18T18:00:00Z'],
  cobalt: ['2026-09-30T18:00:00Z', '2026-09-23T18:00:00Z'],
  denim: ['2026-11-05T18:00:00Z', '2026-10-21T18:00:00Z'],
} as const

const text = (time: number | undefined): string => new Date((time ?? 0) * 1_000).toISOString().replace('.000', '')

it.each([
  ['base', 0],
  ['base-sepolia', 1],
] as const)('chainspec/networks: genesis, addresses and the forks of 2026 of %s are the published ones', (name, column) => {
  const { config } = networkOf(name)
  const { genesis, schedule, eip1559 } = config
  const { batcher, gasLimit, overhead, scalar } = genesis.systemConfig
  expect({
    chain: config.l2ChainId,
    l1Chain: config.l1ChainId,
    l1Genesis: `${genesis.l1.number} ${genesis.l1.hash}`,
    l2Genesis: `${genesis.l2.number} ${genesis.l2.hash}`,
    l2TimeSec: genesis.l2TimeSec,
    batcher,
    gas: `${gasLimit} ${overhead} ${scalar}`,
    inbox: config.batchInbox,
    portal: config.depositContract,
    systemConfig: config.l1SystemConfig,
    eip1559: `${eip1559.elasticity} ${eip1559.denominator} ${eip1559.denominatorCanyon}`,
    azul: text(schedule.azul),
    beryl: text(schedule.beryl),
    cobalt: text(schedule.cobalt),
    denim: text(schedule.denim),
  }).toEqual(Object.fromEntries(Object.entries(published).map(([what, columns]) => [what, columns[column]])))
})

it.each(['base', 'base-sepolia'] as const)('chainspec/networks: windows and block time of %s are the published ones', (name) => {
  expect(networkOf(name).config).toMatchObject({
    ...{ blockTimeSec: 2, sequencingWindowBlocks: 3_600, maxSequencerDriftSec: 600 },
    ...{ channelTimeoutBlocks: 300, channelTimeoutGraniteBlocks: 50 },
  })
})
