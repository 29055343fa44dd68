import { defineConfig } from 'vitest/config'
import { slowOnly } from './vitest.slow.config.ts'

/** Tests of whole nodes and processes, and of faults and kills at many places. Each takes seconds: CI runs them, `npm test` does not. */
export const system: readonly string[] = [
  'src/batcher/{batcherFaults,batcherProperties}.test.ts',
  'src/blockchain/{importPayloads,kill,segments/{logMover,logRetention,rowPruner,segmentMover}}.test.ts',
  'src/cli/{run,commands/db,commands/devnetViews,commands/doctor/doctor,commands/proofs,commands/snapshot}.test.ts',
  'src/consensus/{chaos,followChaos,restart,sequencerChaos}.test.ts',
  'src/database/{compact,migrate,segments,stats,verify,verifyPruned}.test.ts',
  'src/derive/restart.test.ts',
  'src/executionPeers/{hostilePeers,net/executionNode}.test.ts',
  'src/executionThread/{commitThread,moving}.test.ts',
  'src/l1/economy.test.ts',
  'src/lib/{kzgThread,processMemory}.test.ts',
  'src/node/{anchored,fill/{fillPart,fillWalk},hostileClients,importFile,modes,node,retention,transactions}.test.ts',
  'src/node/parts/{l1Part,proofsFaults,proofsPart,sequencerPart}.test.ts',
  'src/node/health/healthServer.test.ts',
  'src/node/profiling/profiles.test.ts',
  'src/p2p/{hostilePeers,net/p2pNode}.test.ts',
  'src/proofs/{recorder,verifyProofs}.test.ts',
  'src/rpc/server/unreadAnswers.test.ts',
  'src/snapshot/{fullSnapshot,hostile,olderValues,snapshot,load/stateLoader,reth/damage,reth/importReth}.test.ts',
  'test/b20/hostile.test.ts',
  'test/bench/generatedState.test.ts',
  'test/contract/evmLeak.test.ts',
  'test/differential/{batchEncoder,batcher,evmFuzz,evmPrograms,tracedFrames}.test.ts',
  'test/model/seeds.test.ts',
  'test/{faults,process,upgrade}/*.test.ts',
]

export default defineConfig({
  test: {
    include: [...system],
    exclude: [...slowOnly],
    // most use both cores
    maxWorkers: 2,
    execArgv: ['--max-semi-space-size=64'],
    testTimeout: 30_000,
    passWithNoTests: false,
  },
})
