import com.sun.tools.attach.VirtualMachine;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.Recording;

/**
 * What a profiler costs a program with a fixed amount of work, within one JVM: rounds of the same work, of which some are in a session. Two runs of a program
 * differ by what the JVM compiled, and how, more than by any profiler; here both sides are the same compiled code, and a drift of the machine takes as much from the outer
 * rounds as from the inner ones:
 *
 *     outer  [start]  not counted  inner  inner  [stop]  not counted  outer
 *
 * What begins and ends a session is so no part of it, nor what an agent costs that is loaded and does nothing. All that the process uses is counted, the
 * profiler's own threads too. CPU time is what bench/native/measure answers to a mark.
 *
 * Prints `turn PERCENT` for each: how much more CPU time the inner rounds took than the outer ones.
 *
 * Properties: turns=NUMBER, turns.warm=ROUNDS, and of the profiler turns.agent=LIBRARY and turns.start=OPTIONS, or turns.events=TYPE#SETTING=VALUE,... and turns.file of the
 * JDK's own recorder; or none of these, for what is found where there is nothing to find.
 */
final class Turns {
    private interface Profiler {
        void start() throws Exception;

        void stop() throws Exception;
    }

    private final Fixed.Work work;
    private final int units;
    private Long result;

    private Turns(Fixed.Work work, int units) {
        this.work = work;
        this.units = units;
    }

    static boolean areWanted() {
        return Integer.getInteger("turns") != null;
    }

    static void measure(Fixed.Work work, int units) throws Exception {
        Turns turns = new Turns(work, units);
        Profiler profiler = profiler();

        for (int i = 0; i < Integer.getInteger("turns.warm", 8); i++) {
            turns.round();
        }
        // The first session finds what it needs once in the life of a JVM.
        turns.turn(profiler);
        for (int i = 0; i < Integer.getInteger("turns"); i++) {
            System.out.println("turn " + turns.turn(profiler));
        }
        System.out.println("result " + turns.result);
    }

    private double turn(Profiler profiler) throws Exception {
        long outer = round();
        profiler.start();
        round();
        long inner = round() + round();
        profiler.stop();
        round();
        outer += round();
        return 100.0 * (inner - outer) / outer;
    }

    /** CPU nanoseconds of the process. */
    private long round() throws Exception {
        long begin = Fixed.mark();
        long sum = work.units(0, units);
        long tookNs = Fixed.mark() - begin;

        if (result != null && result != sum) {
            throw new IllegalStateException("a round has another result: " + sum + ", not " + result);
        }
        result = sum;
        return tookNs;
    }

    private static Profiler profiler() throws Exception {
        String library = System.getProperty("turns.agent");
        String events = System.getProperty("turns.events");

        if (library != null) {
            return agent(library, System.getProperty("turns.start"));
        }
        return events != null ? recorder(events, Path.of(System.getProperty("turns.file"))) : nobody();
    }

    private static Profiler nobody() {
        return new Profiler() {
            @Override
            public void start() {
            }

            @Override
            public void stop() {
            }
        };
    }

    /** Told by way of attach, as from outside, which all agents know; needs -Djdk.attach.allowAttachSelf=true. */
    private static Profiler agent(String library, String start) throws Exception {
        VirtualMachine self = VirtualMachine.attach(Long.toString(ProcessHandle.current().pid()));

        return new Profiler() {
            @Override
            public void start() throws Exception {
                self.loadAgentPath(library, start);
            }

            @Override
            public void stop() throws Exception {
                self.loadAgentPath(library, "stop");
            }
        };
    }

    private static Profiler recorder(String events, Path file) {
        return new Profiler() {
            private Recording recording;

            @Override
            public void start() throws Exception {
                Map<String, String> settings = new TreeMap<>();
                for (String setting : events.split(",")) {
                    String[] parts = setting.split("=", 2);
                    settings.put(parts[0], parts[1]);
                }
                recording = new Recording();
                recording.setSettings(settings);
                recording.setToDisk(true);
                recording.setDestination(file);
                recording.start();
            }

            @Override
            public void stop() {
                recording.stop();
                recording.close();
            }
        };
    }
}
